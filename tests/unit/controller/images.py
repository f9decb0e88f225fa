"""Random clusters whose partitions are in a state that a controller could have left."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from tests.unit.controller.support import broker, image_of

from barnabas.controller.elections import ElectionRules
from barnabas.model.image import NO_LEADER, ClusterImage, PartitionImage, TopicCreated, TopicImage

BROKERS = (1, 2, 3, 4)


@st.composite
def partitions(draw: st.DrawFn, index: int = 0) -> PartitionImage:
    replicas = tuple(draw(st.permutations(BROKERS))[: draw(st.integers(1, 4))])
    isr = tuple(draw(st.permutations(replicas))[: draw(st.integers(0, len(replicas)))])
    others = [replica for replica in replicas if replica not in isr]
    elr = tuple(sorted(draw(st.sets(st.sampled_from(others))))) if others else ()
    leader = draw(st.sampled_from((*isr, NO_LEADER)))
    last_known = () if isr else (draw(st.sampled_from(replicas)),)
    epochs = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    return PartitionImage(
        index, replicas, isr, leader, epochs[0], epochs[1], elr=elr, last_known_elr=last_known
    )


@st.composite
def images(draw: st.DrawFn) -> ClusterImage:
    here = draw(st.sets(st.sampled_from(BROKERS)))
    registered = [
        replace(broker(one, fenced=draw(st.booleans())), leaving=draw(st.booleans())) for one in sorted(here)
    ]
    found = tuple(draw(partitions(index)) for index in range(draw(st.integers(1, 4))))
    return image_of(*registered).apply([TopicCreated(TopicImage("t", bytes(range(16)), found))])


rules = st.builds(ElectionRules, st.integers(1, 4), st.booleans())
