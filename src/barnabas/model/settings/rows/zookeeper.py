"""The home of the metadata when it is a ZooKeeper ensemble: the keys of Kafka 3.x."""

from __future__ import annotations

from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import (
    AT_LEAST_0,
    AT_LEAST_1,
    BOOLEAN,
    HIGH,
    INT,
    LIST,
    LOW,
    MEDIUM,
    PASSWORD,
    READ_ONLY,
    STRING,
)

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("zookeeper.connect", STRING, None, None, HIGH, READ_ONLY,
        "The ensemble as `host:port,host:port/chroot`. When set, metadata lives there; when absent, in "
        "the first log directory."),
    Setting("zookeeper.session.timeout.ms", INT, "18000", None, HIGH, READ_ONLY,
        "How long ZooKeeper waits for a silent broker before it drops the broker's ephemeral nodes."),
    Setting("zookeeper.connection.timeout.ms", INT, None, None, HIGH, READ_ONLY,
        "How long a start waits for a connection; the session timeout when absent."),
    Setting("zookeeper.set.acl", BOOLEAN, "false", None, HIGH, READ_ONLY,
        "Whether the nodes this broker writes carry ACLs."),
    Setting("zookeeper.max.in.flight.requests", INT, "10", AT_LEAST_1, HIGH, READ_ONLY,
        "How many requests to ZooKeeper may be unanswered at a time."),
    Setting("zookeeper.ssl.client.enable", BOOLEAN, "false", None, MEDIUM, READ_ONLY,
        "Whether the connection to ZooKeeper is encrypted."),
    Setting("zookeeper.clientCnxnSocket", STRING, None, None, MEDIUM, READ_ONLY,
        "The Java class of ZooKeeper's client socket; files that use TLS name it. Accepted and not "
        "needed."),
    Setting("zookeeper.ssl.keystore.location", STRING, None, None, MEDIUM, READ_ONLY,
        "The file with the key this broker shows to ZooKeeper."),
    Setting("zookeeper.ssl.keystore.password", PASSWORD, None, None, MEDIUM, READ_ONLY,
        "The password of that file."),
    Setting("zookeeper.ssl.keystore.type", STRING, None, None, MEDIUM, READ_ONLY,
        "The format of that file; guessed from its name when absent."),
    Setting("zookeeper.ssl.truststore.location", STRING, None, None, MEDIUM, READ_ONLY,
        "The file with the authorities whose ZooKeeper certificates are trusted."),
    Setting("zookeeper.ssl.truststore.password", PASSWORD, None, None, MEDIUM, READ_ONLY,
        "The password of that file."),
    Setting("zookeeper.ssl.truststore.type", STRING, None, None, MEDIUM, READ_ONLY,
        "The format of that file; guessed from its name when absent."),
    Setting("zookeeper.ssl.protocol", STRING, "TLSv1.2", None, LOW, READ_ONLY,
        "The TLS version to negotiate with ZooKeeper."),
    Setting("zookeeper.ssl.enabled.protocols", LIST, None, None, LOW, READ_ONLY,
        "The TLS versions that are acceptable with ZooKeeper."),
    Setting("zookeeper.ssl.cipher.suites", LIST, None, None, LOW, READ_ONLY,
        "The ciphers that are acceptable with ZooKeeper."),
    Setting("zookeeper.ssl.endpoint.identification.algorithm", STRING, "HTTPS", None, LOW, READ_ONLY,
        "Whether ZooKeeper's host name must match its certificate; empty means no."),
    Setting("zookeeper.ssl.crl.enable", BOOLEAN, "false", None, LOW, READ_ONLY,
        "Whether lists of revoked certificates are consulted."),
    Setting("zookeeper.ssl.ocsp.enable", BOOLEAN, "false", None, LOW, READ_ONLY,
        "Whether certificates are checked online for revocation."),
    Setting("broker.id.generation.enable", BOOLEAN, "true", None, MEDIUM, READ_ONLY,
        "Whether a broker without an id is given one above `reserved.broker.max.id`."),
    Setting("reserved.broker.max.id", INT, "1000", AT_LEAST_0, MEDIUM, READ_ONLY,
        "The highest id that people may choose; generated ones start above it."),
)
