"""Kafka's tree in ZooKeeper mode: where things are. What the values hold is in `znodes/`."""

from __future__ import annotations

from urllib.parse import quote, unquote

from barnabas.model.image import ConfigKind, ConfigResource

BROKER_IDS = "/brokers/ids"
BROKER_SEQUENCE_ID = "/brokers/seqid"
TOPICS = "/brokers/topics"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGE_NOTIFICATION = "/isr_change_notification"
LOG_DIR_EVENT_NOTIFICATION = "/log_dir_event_notification"
CONSUMERS = "/consumers"
CLUSTER_ID = "/cluster/id"
PRODUCER_ID_BLOCK = "/latest_producer_id_block"
FEATURE = "/feature"
ACLS = "/kafka-acl"
ACL_CHANGES = "/kafka-acl-changes"
ACLS_EXTENDED = "/kafka-acl-extended"
ACL_EXTENDED_CHANGES = "/kafka-acl-extended-changes"
DELEGATION_TOKENS = "/delegation_token"

# Made at start if missing, as Kafka does; the access control paths are made by whoever switches that on.
PERSISTENT_PATHS: tuple[str, ...] = (
    CONSUMERS,
    BROKER_IDS,
    TOPICS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE_ID,
    ISR_CHANGE_NOTIFICATION,
    PRODUCER_ID_BLOCK,
    LOG_DIR_EVENT_NOTIFICATION,
    *(f"{CONFIG}/{kind}" for kind in ConfigKind),
)

_DEFAULT_ENTITY = "<default>"
_FOLDERS = {str(kind) for kind in ConfigKind}
_PERCENT_ENCODED = {ConfigKind.GROUP, ConfigKind.CLIENT_METRICS}


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def topic_path(topic: str) -> str:
    return f"{TOPICS}/{topic}"


def partition_path(topic: str, index: int) -> str:
    return f"{TOPICS}/{topic}/partitions/{index}"


def state_path(topic: str, index: int) -> str:
    return f"{TOPICS}/{topic}/partitions/{index}/state"


def config_path(resource: ConfigResource) -> str:
    kind, name = resource
    if kind is ConfigKind.BROKER and name == "":
        name = _DEFAULT_ENTITY
    elif kind in _PERCENT_ENCODED:
        name = quote(name, safe="")  # as Kafka's sanitizer: letters, digits and '-_.~' stay
    return f"{CONFIG}/{kind}/{name}"


def config_resource(path: str) -> ConfigResource | None:
    """The inverse; None for /config itself, its folders, and /config/changes."""
    _, _, below = path.partition(f"{CONFIG}/")
    folder, _, name = below.partition("/")
    if name == "" or folder not in _FOLDERS:
        return None
    kind = ConfigKind(folder)
    if kind is ConfigKind.BROKER and name == _DEFAULT_ENTITY:
        return ConfigResource(kind, "")
    return ConfigResource(kind, unquote(name) if kind in _PERCENT_ENCODED else name)
