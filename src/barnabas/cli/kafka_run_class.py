"""kafka-run-class: a tool by the name of its Java class, old or new. A name typed wrong is answered with the
nearest one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from barnabas.cli.support.nearest import nearest

# Java class → our module. Kafka moved most classes from kafka.* to org.apache.kafka.tools.*; both names live.
CLASSES = {
    "kafka.Kafka": "kafka_server_start",
    "kafka.admin.BrokerApiVersionsCommand": "kafka_broker_api_versions",
    "kafka.admin.ConfigCommand": "kafka_configs",
    "kafka.admin.ConsumerGroupCommand": "kafka_consumer_groups",
    "kafka.admin.DeleteRecordsCommand": "kafka_delete_records",
    "kafka.admin.LeaderElectionCommand": "kafka_leader_election",
    "kafka.admin.LogDirsCommand": "kafka_log_dirs",
    "kafka.admin.ReassignPartitionsCommand": "kafka_reassign_partitions",
    "kafka.admin.TopicCommand": "kafka_topics",
    "kafka.tools.ClusterTool": "kafka_cluster",
    "kafka.tools.ConsoleConsumer": "kafka_console_consumer",
    "kafka.tools.ConsoleProducer": "kafka_console_producer",
    "kafka.tools.ConsumerPerformance": "kafka_consumer_perf_test",
    "kafka.tools.DumpLogSegments": "kafka_dump_log",
    "kafka.tools.GetOffsetShell": "kafka_get_offsets",
    "kafka.tools.StorageTool": "kafka_storage",
    "org.apache.kafka.tools.BrokerApiVersionsCommand": "kafka_broker_api_versions",
    "org.apache.kafka.tools.ClusterTool": "kafka_cluster",
    "org.apache.kafka.tools.ConfigCommand": "kafka_configs",
    "org.apache.kafka.tools.ConsoleProducer": "kafka_console_producer",
    "org.apache.kafka.tools.ConsumerPerformance": "kafka_consumer_perf_test",
    "org.apache.kafka.tools.DeleteRecordsCommand": "kafka_delete_records",
    "org.apache.kafka.tools.DumpLogSegments": "kafka_dump_log",
    "org.apache.kafka.tools.GetOffsetShell": "kafka_get_offsets",
    "org.apache.kafka.tools.GroupsCommand": "kafka_groups",
    "org.apache.kafka.tools.LeaderElectionCommand": "kafka_leader_election",
    "org.apache.kafka.tools.LogDirsCommand": "kafka_log_dirs",
    "org.apache.kafka.tools.reassign.ReassignPartitionsCommand": "kafka_reassign_partitions",
    "org.apache.kafka.tools.ProducerPerformance": "kafka_producer_perf_test",
    "org.apache.kafka.tools.TopicCommand": "kafka_topics",
    "org.apache.kafka.tools.TransactionsCommand": "kafka_transactions",
    "org.apache.kafka.tools.consumer.ConsoleConsumer": "kafka_console_consumer",
    "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand": "kafka_consumer_groups",
    "org.apache.zookeeper.ZooKeeperMain": "zookeeper_shell",
    "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka": "zookeeper_shell",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain": "zookeeper_server_start",
}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    flags = ("-daemon", "-loggc")  # of the script itself; here there is no JVM they could matter to
    while words and words[0] in flags:
        words.pop(0)
    if words and words[0] == "-name":
        del words[:2]
    if not words:
        print("USAGE: kafka-run-class [-daemon] [-name servicename] [-loggc] classname [opts]")
        return 1
    return run_class(words[0], words[1:])


def run_class(name: str, arguments: Sequence[str]) -> int:
    module = CLASSES.get(name)
    if module is None:
        print(f"Error: Could not find or load main class {name}", file=sys.stderr)
        print(_hint(name), file=sys.stderr)
        return 1
    tool = importlib.import_module(f"barnabas.cli.{module}")
    code = tool.main(arguments)
    assert isinstance(code, int)
    return code


def _hint(name: str) -> str:
    """Compare whole names, then only what follows the last dot: people remember that part."""
    short_names = {full.rpartition(".")[2]: full for full in CLASSES}
    meant = nearest(name.rpartition(".")[2], short_names)
    if meant is not None:
        return f"did you mean {short_names[meant]}?"
    return "The classes that run here: " + ", ".join(sorted(CLASSES))
