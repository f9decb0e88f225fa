"""Members, producers and administrators of every library, closed when the test ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from tests.support.confluent_client import ConfluentClient
from tests.support.java_client import JavaDriver
from tests.support.members.aiokafka_member import AiokafkaGroupAdmin
from tests.support.members.confluent_member import ConfluentGroupAdmin
from tests.support.members.face import GroupAdmin, Joining, Member
from tests.support.members.java_member import JavaGroupAdmin, JavaMember, MortalJavaMember
from tests.support.members.kafka_python_member import KafkaPythonGroupAdmin
from tests.support.members.kinds import JAVA, Kind
from tests.support.members.process import KINDS, MemberProcess
from tests.support.transactional.aiokafka_producer import AiokafkaTransactions
from tests.support.transactional.confluent_producer import ConfluentTransactions
from tests.support.transactional.face import TransactionAdmin, TransactionalProducer
from tests.support.transactional.java_producer import JavaTransactionAdmin, JavaTransactions
from tests.support.transactional.kafka_python_producer import (
    KafkaPythonTransactionAdmin,
    KafkaPythonTransactions,
)

from barnabas.model.config_numbers import ResourceType
from barnabas.testing import BrokerProcess
from barnabas.wire import Cluster
from barnabas.wire.admin import configs

TRANSACTION_TIMEOUT_MS = 60_000


class Clients:
    """Everything a test may start against one broker."""

    def __init__(self, broker: BrokerProcess, java: Callable[[], JavaDriver], stack: ExitStack) -> None:
        self._bootstrap = broker.bootstrap
        self._java = java
        self._stack = stack

    def join(self, kind: Kind, group: str, *topics: str, **details: str | int | None) -> Member:
        joining = self._joining(kind, group, topics, details)
        member: Member
        if kind.library == JAVA:
            member = JavaMember(self._bootstrap, joining, self._java())
        else:
            member = KINDS[kind.library](self._bootstrap, joining)
        self._stack.callback(member.close)
        return member

    def join_mortal(
        self, kind: Kind, group: str, *topics: str, **details: str | int | None
    ) -> MemberProcess | MortalJavaMember:
        """A member that can `vanish()`: go without a word."""
        joining = self._joining(kind, group, topics, details)
        member: MemberProcess | MortalJavaMember
        if kind.library == JAVA:
            self._java()  # skips the test where there is no Java
            member = MortalJavaMember(self._bootstrap, joining)
        else:
            member = MemberProcess(kind.library, self._bootstrap, joining)
        self._stack.callback(member.close)
        return member

    def _joining(
        self, kind: Kind, group: str, topics: tuple[str, ...], details: dict[str, str | int | None]
    ) -> Joining:
        fixed: dict[str, object] = {"protocol": kind.protocol, "assignor": kind.assignor, **details}
        return Joining(group, topics, **fixed)  # type: ignore[arg-type]

    def set_group_session_timeout(self, group: str, timeout_ms: int) -> None:
        """The new protocol's session is the broker's word, and a setting of the group."""
        with Cluster.connect(self._bootstrap) as cluster:
            change = configs.Change("consumer.session.timeout.ms", str(timeout_ms))
            configs.alter(cluster, configs.Resource(ResourceType.GROUP, group), [change])

    def create_partitions(self, topic: str, total: int) -> None:
        ConfluentClient(self._bootstrap).create_partitions(topic, total)

    def admin(self, library: str) -> GroupAdmin:
        if library == JAVA:
            return self.java_admin()
        kinds: dict[str, Callable[[str], GroupAdmin]] = {
            "confluent-kafka": ConfluentGroupAdmin,
            "kafka-python": KafkaPythonGroupAdmin,
            "aiokafka": AiokafkaGroupAdmin,  # type: ignore[dict-item]  # it can look, not change
        }
        return kinds[library](self._bootstrap)

    def java_admin(self) -> JavaGroupAdmin:
        return JavaGroupAdmin(self._bootstrap, self._java())

    def transactional(
        self, library: str, transactional_id: str, *, timeout_ms: int = TRANSACTION_TIMEOUT_MS
    ) -> TransactionalProducer:
        """A producer that has taken its id; what it leaves open when the test ends, stays open."""
        producer: TransactionalProducer
        if library == JAVA:
            producer = JavaTransactions(self._bootstrap, transactional_id, timeout_ms, self._java())
        else:
            kinds: dict[str, Callable[[str, str, int], TransactionalProducer]] = {
                "confluent-kafka": ConfluentTransactions,
                "kafka-python": KafkaPythonTransactions,
                "aiokafka": AiokafkaTransactions,
            }
            producer = kinds[library](self._bootstrap, transactional_id, timeout_ms)
        self._stack.callback(producer.close)
        producer.init()
        return producer

    def transaction_admin(self, library: str) -> TransactionAdmin:
        if library == JAVA:
            return self.java_transaction_admin()
        return KafkaPythonTransactionAdmin(self._bootstrap)

    def java_transaction_admin(self) -> JavaTransactionAdmin:
        return JavaTransactionAdmin(self._bootstrap, self._java())
