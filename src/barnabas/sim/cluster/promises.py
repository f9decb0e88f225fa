"""What a cluster promises, each with the settings, the load and the faults under which it must hold."""

from __future__ import annotations

from barnabas.sim import checkers as check
from barnabas.sim.checkers import Checker
from barnabas.sim.cluster import checkers as cluster
from barnabas.sim.cluster.faults import ClusterKind as Kind
from barnabas.sim.cluster.promise import ClusterPromise

EVERYBODY: tuple[Checker, ...] = (
    check.NothingBroke(),
    check.NothingInvented(),
    check.CreatedTopicsExist(),
    check.NoLostWrite(),
    check.NoDuplicate(),
    check.InOrder(),
    check.OneValuePerOffset(),
    check.WholeReads(),
    check.ReadersKeepTheirPlace(),
    cluster.NothingReadVanishes(),
    cluster.CommittedStays(),
    cluster.LogsMatch(),
    cluster.ReplicasAgree(),
    cluster.StatesFollow(),
    cluster.ClusterHeals(),
)

HARMLESS = (Kind.DISCONNECT, Kind.SLOW_DISK, Kind.CLOCK_JUMP, Kind.STRAY)
KILLS = (Kind.KILL, Kind.KILL, Kind.KILL_INSIDE, Kind.KILL_CONTROLLER, Kind.KILL_ALL)
SESSIONS = (Kind.EXPIRE, Kind.BREAK_STORE, Kind.DEPOSE, Kind.FREEZE, Kind.FREEZE, Kind.ENSEMBLE_OUT)
CUTS = (
    Kind.CUT_ONE_WAY,
    Kind.CUT_ONE_WAY,
    Kind.CUT_RING,
    Kind.ISOLATE,
    Kind.SPLIT_FROM_BROKERS,
    Kind.SPLIT_FROM_ENSEMBLE,
    Kind.DELAY,
)
FORGETTING = (Kind.POWER_LOSS, Kind.POWER_LOSS, Kind.POWER_LOSS_INSIDE, Kind.LOSE_DISK)

KILLED = ClusterPromise(
    "cluster_kill",
    "Brokers are killed, the controller or all of them too: what all in-sync replicas acknowledged is kept, "
    "once and in order, and the cluster heals.",
    (*KILLS, *HARMLESS),
    EVERYBODY,
)

PARTITIONED = ClusterPromise(
    "cluster_partition",
    "Brokers are cut off from each other and from the ensemble, one way, in a ring, or wholly.",
    (*CUTS, *CUTS, Kind.KILL, *HARMLESS),
    EVERYBODY,
)

SESSIONS_END = ClusterPromise(
    "cluster_sessions",
    "Sessions end, processes sleep through theirs, controllers are deposed: no zombie is believed.",
    (*SESSIONS, *SESSIONS, Kind.KILL, *HARMLESS),
    EVERYBODY,
)

FORGETFUL = ClusterPromise(
    "cluster_power_loss",
    "One machine after the other loses what was not synced, or its whole disk: the others remember, and "
    "nobody who has forgotten is elected.",
    (*FORGETTING, *FORGETTING, Kind.KILL, Kind.FREEZE, *HARMLESS),
    EVERYBODY,
    last=Kind.POWER_LOSS,
)

CLUSTER_PROMISES = {promise.name: promise for promise in (KILLED, PARTITIONED, SESSIONS_END, FORGETFUL)}
