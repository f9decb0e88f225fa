"""How a node enters the cluster: the paths it expects, its registration, and the office of controller.

All of it is one multi: read what is there, submit `enter(…)`, and look again. Where several come at once one
of them succeeds, and the others look again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from barnabas.controller import tree
from barnabas.controller.znodes import cluster
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.image import BrokerImage
from barnabas.ports import Create, Set, Value, Write

FIRST_CONTROLLER_EPOCH = 1


def enter(
    values: Iterable[Value],
    broker: BrokerImage,
    *,
    cluster_id: str,
    features: Mapping[str, int],
    now_ms: int,
) -> tuple[Write, ...]:
    """Everything that is missing until this broker is in. `cluster_id` counts only when the tree has none."""
    present = {value.path: value for value in values}
    registered, controlling = tree.broker_path(broker.id) in present, tree.CONTROLLER in present
    return (
        *missing_paths(present, cluster_id, features),
        *(() if registered else (register_broker(broker, now_ms),)),
        *(() if controlling else claim_controller(present, broker.id, now_ms)),
    )


def missing_paths(
    present: Mapping[str, Value], cluster_id: str, features: Mapping[str, int]
) -> tuple[Write, ...]:
    folders = [Create(path, make_parents=True) for path in tree.PERSISTENT_PATHS if path not in present]
    identity = Create(tree.CLUSTER_ID, cluster.encode_cluster_id(cluster_id), make_parents=True)
    return (
        *folders,
        *(() if tree.CLUSTER_ID in present else (identity,)),
        *_finalise(present.get(tree.FEATURE), features),
    )


def _finalise(stored: Value | None, features: Mapping[str, int]) -> tuple[Write, ...]:
    """What this version brings is finalised at its first start; a level somebody chose is kept."""
    if stored is None:
        return (Create(tree.FEATURE, cluster.encode_features(features), make_parents=True),)
    try:
        chosen = cluster.decode_features(tree.FEATURE, stored.data)
    except MalformedNodeError:
        return ()  # what somebody wrote there is theirs to mend; the controller's log says so
    if features.keys() <= chosen.keys():
        return ()
    return (Set(tree.FEATURE, cluster.encode_features({**features, **chosen})),)


def register_broker(
    broker: BrokerImage, now_ms: int, features: Mapping[str, tuple[int, int]] | None = None
) -> Create:
    """Ephemeral: it goes with the session. The czxid of what is created is the broker's epoch."""
    data = cluster.encode_broker(broker, now_ms, features)
    return Create(tree.broker_path(broker.id), data, ephemeral=True)


def claim_controller(present: Mapping[str, Value], broker_id: int, now_ms: int) -> tuple[Write, ...]:
    """Succeeds for one: the node must not exist, and the epoch must still be the one that was read. Whoever
    held the office before is fenced from then on, since the epoch's version has moved."""
    claim = Create(tree.CONTROLLER, cluster.encode_controller(broker_id, now_ms), ephemeral=True)
    epoch = present.get(tree.CONTROLLER_EPOCH)
    if epoch is None:
        first = cluster.encode_controller_epoch(FIRST_CONTROLLER_EPOCH)
        return (claim, Create(tree.CONTROLLER_EPOCH, first))
    following = cluster.encode_controller_epoch(_epoch(epoch) + 1)
    return (claim, Set(tree.CONTROLLER_EPOCH, following, epoch.stat.version))


def is_of_claim(epoch: Value, controller: Value) -> bool:
    """Whether the epoch is the one that this claim began: both were written at once, and read one by one."""
    return epoch.stat.mzxid == controller.stat.czxid


def _epoch(value: Value) -> int:
    try:
        return cluster.decode_controller_epoch(value.path, value.data)
    except MalformedNodeError:
        # Every claim sets the node once, so its version is never behind the epochs that were used.
        return value.stat.version + FIRST_CONTROLLER_EPOCH
