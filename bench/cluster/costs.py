"""What a partition costs the controller and the brokers that follow it: `python -m bench.cluster.costs`.

No cluster runs: the decisions, images and messages of one are made for real, for as many brokers and
partitions as are named, and timed by CPU. docs/scale.md says what follows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from barnabas.controller import steps
from barnabas.controller.liveness import ElectionRules
from barnabas.controller.roll_call import departures
from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import BrokerImage, ClusterImage, PartitionImage, TopicImage
from barnabas.protocol import codec
from barnabas.protocol.private import PullImageResponse

T = TypeVar("T")
_PARTITIONS_PER_TOPIC = 100
_REPLICAS = 3
_RULES = ElectionRules(2, unclean=False)


def cluster(brokers: int, partitions: int) -> ClusterImage:
    here = {
        number: BrokerImage(number, number, {"PLAINTEXT": Endpoint("host", 9092, SecurityProtocol.PLAINTEXT)})
        for number in range(brokers)
    }
    topics = {}
    for number in range(partitions // _PARTITIONS_PER_TOPIC):
        name = f"topic-{number}"
        topics[name] = TopicImage(name, number.to_bytes(16, "big"), _partitions(number, brokers))
    return ClusterImage(
        version=1,
        controller_epoch=1,
        brokers=here,
        topics=topics,
        topic_names={topic.id: topic.name for topic in topics.values()},
    )


def _partitions(topic: int, brokers: int) -> tuple[PartitionImage, ...]:
    made = []
    for index in range(_PARTITIONS_PER_TOPIC):
        replicas = tuple((7 * topic + index + at) % brokers for at in range(_REPLICAS))
        made.append(PartitionImage(index, replicas, replicas, replicas[0]))
    return tuple(made)


class Costs:
    def __init__(self) -> None:
        self.table = Table("what", "CPU", "bytes")
        for column in self.table.columns[1:]:
            column.justify = "right"

    def of(self, what: str, work: Callable[[], T]) -> T:
        began_s = time.process_time()
        result = work()
        took_s = time.process_time() - began_s
        size = f"{len(result):,}" if isinstance(result, bytes) else ""
        self.table.add_row(what, f"{1_000 * took_s:,.1f} ms", size)
        return result


def resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1_048_576


def measure(brokers: int, partitions: int) -> Table:
    costs = Costs()
    before_mib = resident_mib()
    image = costs.of("the image, made", lambda: cluster(brokers, partitions))
    costs.table.add_row("the image, in memory", "", f"{(resident_mib() - before_mib) * 1_048_576:,.0f}")
    left = {number: broker for number, broker in image.brokers.items() if number != 0}
    decision = costs.of("a broker dies: the decision", lambda: departures(image, left, lambda _name: _RULES))
    costs.table.add_row(
        f"… for {len(decision.results)} broker, {len(decision.deltas) - 1:,} partitions",
        "",
        f"{sum(len(getattr(write, 'value', b'')) for write in decision.operations):,}",
    )
    costs.of("… applied at the controller", lambda: image.apply(decision.deltas))
    step = costs.of("… as a step", lambda: steps.step(2, decision.deltas))
    sent = costs.of("… encoded", lambda: codec.encode(PullImageResponse(0, 1, "", False, [step]), 0))
    heard = costs.of("… decoded by a broker", lambda: codec.decode(PullImageResponse, 0, sent))
    costs.of("… applied there", lambda: image.apply(steps.deltas(image, heard.steps[0])))
    everything = costs.of("a new controller: the whole image as a step", lambda: steps.whole(image))
    sent = costs.of("… encoded", lambda: codec.encode(PullImageResponse(0, 1, "", True, [everything]), 0))
    whole = costs.of("… decoded by a broker", lambda: codec.decode(PullImageResponse, 0, sent))
    costs.of("… and made an image", lambda: steps.image_of(whole.steps[0], "").sharing(image))
    return costs.table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.costs", description=__doc__)
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=200_000)
    options = parser.parse_args()
    table = measure(options.brokers, options.partitions)
    table.title = f"{options.brokers} brokers, {options.partitions:,} partitions of {_REPLICAS} replicas"
    Console().print(table)


if __name__ == "__main__":
    main()
