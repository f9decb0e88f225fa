"""What a broker that is not the controller makes of requests that only the controller can carry out."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from tests.support.cluster_desk import ClusterDesk

from barnabas.model.config_numbers import Operation, ResourceType
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ConfigKind
from barnabas.protocol.messages.alter_configs import AlterableConfig as WholeConfig
from barnabas.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from barnabas.protocol.messages.alter_configs import AlterConfigsResource as WholeResource
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

LOGGER = "kafka.coordinator"


@pytest.fixture
def log_level() -> Iterator[None]:
    before = logging.getLogger(LOGGER).level
    yield
    logging.getLogger(LOGGER).setLevel(before)


def others(desk: ClusterDesk) -> list[int]:
    """Brokers that are not the controller."""
    return [broker_id for broker_id in desk.cluster.machines if broker_id != desk.controller_id]


def altered(desk: ClusterDesk, asked: int, *resources: AlterConfigsResource) -> dict[int, int]:
    request = IncrementalAlterConfigsRequest(list(resources))
    answer = desk.ask(asked, request, 1, IncrementalAlterConfigsResponse)
    assert len(answer.responses) == len(resources)
    return {row.resource_type: row.error_code for row in answer.responses}


def to_set(kind: ResourceType, name: str, key: str, value: str) -> AlterConfigsResource:
    return AlterConfigsResource(kind, name, [AlterableConfig(key, Operation.SET, value)])


# --- topics ------------------------------------------------------------------------------------------------


def test_the_first_question_for_a_coordinator_creates_its_topic_wherever_it_is_asked() -> None:
    desk = ClusterDesk(offsets_topic_replication_factor="1", offsets_topic_num_partitions="2")
    asked = others(desk)[0]
    answer = desk.ask(asked, FindCoordinatorRequest("", 0, ["g"]), 4, FindCoordinatorResponse)
    assert [row.error_code for row in answer.coordinators] == [0]
    assert len(desk.node(asked).image.topics["__consumer_offsets"].partitions) == 2


def test_there_is_no_coordinator_until_enough_brokers_live() -> None:
    desk = ClusterDesk(2, offsets_topic_replication_factor="2", offsets_topic_num_partitions="1")
    request = FindCoordinatorRequest("", 0, ["g"])
    lonely = desk.controller_id
    (other,) = others(desk)
    desk.cluster.machines[other].kill()
    desk.until(lambda: other not in desk.node(lonely).image.brokers)
    answer = desk.ask(lonely, request, 4, FindCoordinatorResponse)
    assert [row.error_code for row in answer.coordinators] == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    desk.cluster.machines[other].start()
    desk.until(lambda: desk.cluster.machines[other].serving and desk.knows_all(lonely))
    answer = desk.ask(lonely, request, 4, FindCoordinatorResponse)
    assert [row.error_code for row in answer.coordinators] == [0]


def test_a_topic_that_a_client_asks_for_is_created_by_way_of_any_broker() -> None:
    desk = ClusterDesk(num_partitions="3")
    asked = others(desk)[0]
    request = MetadataRequest([MetadataRequestTopic(name="new")], allow_auto_topic_creation=True)
    answer = desk.ask(asked, request, 12, MetadataResponse)
    assert answer.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    desk.until(lambda: "new" in desk.node(asked).image.topics)
    assert len(desk.node(asked).image.topics["new"].partitions) == 3


# --- settings ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("log_level")
def test_loggers_are_changed_here_and_the_rest_by_the_controller() -> None:
    desk = ClusterDesk()
    desk.create_topic("t", [[1]])
    asked = others(desk)[0]
    codes = altered(
        desk,
        asked,
        to_set(ResourceType.BROKER_LOGGER, str(asked), LOGGER, "ERROR"),
        to_set(ResourceType.TOPIC, "t", "retention.ms", "1000"),
    )
    assert codes == {ResourceType.BROKER_LOGGER: 0, ResourceType.TOPIC: 0}
    assert logging.getLogger(LOGGER).level == logging.ERROR
    assert desk.node(asked).image.config(ConfigKind.TOPIC, "t") == {"retention.ms": "1000"}


def test_a_broker_changes_its_own_settings_through_the_controller() -> None:
    desk = ClusterDesk()
    asked = others(desk)[0]
    change = to_set(ResourceType.BROKER, str(asked), "log.cleaner.threads", "2")
    assert altered(desk, asked, change) == {ResourceType.BROKER: 0}
    assert desk.node(asked).settings.integer("log.cleaner.threads") == 2
    assert desk.node(desk.controller_id).settings.integer("log.cleaner.threads") == 1


def test_a_setting_of_all_brokers_reaches_all_of_them() -> None:
    desk = ClusterDesk()
    change = to_set(ResourceType.BROKER, "", "log.retention.ms", "12345")
    assert altered(desk, others(desk)[0], change) == {ResourceType.BROKER: 0}
    desk.until(
        lambda: all(
            desk.node(broker_id).settings.optional_integer("log.retention.ms") == 12345
            for broker_id in desk.cluster.machines
        )
    )


def test_another_brokers_settings_are_refused_and_the_rest_is_done() -> None:
    desk = ClusterDesk()
    desk.create_topic("t", [[1]])
    asked = others(desk)[0]
    foreign = to_set(ResourceType.BROKER, str(desk.controller_id), "log.cleaner.threads", "2")
    codes = altered(desk, asked, foreign, to_set(ResourceType.TOPIC, "t", "retention.ms", "1000"))
    assert codes == {ResourceType.BROKER: ErrorCode.INVALID_REQUEST, ResourceType.TOPIC: 0}
    assert desk.node(asked).image.config(ConfigKind.TOPIC, "t") == {"retention.ms": "1000"}


def test_a_setting_that_the_named_broker_cannot_take_never_leaves_it() -> None:
    desk = ClusterDesk()
    asked = others(desk)[0]
    change = to_set(ResourceType.BROKER, str(asked), "log.cleaner.threads", "none")
    assert altered(desk, asked, change) == {ResourceType.BROKER: ErrorCode.INVALID_REQUEST}


def test_the_older_way_to_alter_goes_through_any_broker_as_well() -> None:
    desk = ClusterDesk()
    desk.create_topic("t", [[1]])
    asked = others(desk)[0]
    resource = WholeResource(ResourceType.TOPIC, "t", [WholeConfig("retention.ms", "5")])
    answer = desk.ask(asked, AlterConfigsRequest([resource]), 2, AlterConfigsResponse)
    assert [row.error_code for row in answer.responses] == [0]
    assert desk.node(asked).image.config(ConfigKind.TOPIC, "t") == {"retention.ms": "5"}
