"""What a cluster promises, each with the settings, the load and the faults under which it must hold."""

from __future__ import annotations

from dataclasses import replace

from barnabas.sim import checkers as check
from barnabas.sim import coordination_promises as coordination
from barnabas.sim import transaction_checkers as transactions
from barnabas.sim.checkers import Checker
from barnabas.sim.cluster import checkers as cluster
from barnabas.sim.cluster.kinds import ClusterKind as Kind
from barnabas.sim.cluster.mover import DIRECTORIES
from barnabas.sim.cluster.promise import CARELESS, ClusterPromise
from barnabas.sim.crews import Hiring
from barnabas.sim.producers import Style
from barnabas.sim.world import SeededRandom

BELIEVED: tuple[Checker, ...] = (
    check.NothingInvented(),
    check.NoLostWrite(),
    check.NoDuplicate(),
    check.InOrder(),
    check.OneValuePerOffset(),
    check.WholeReads(),
    check.ReadersKeepTheirPlace(),
    cluster.NothingReadVanishes(),
    cluster.CommittedStays(),
)
AT_PEACE: tuple[Checker, ...] = (
    check.NothingBroke(),
    check.CreatedTopicsExist(),
    cluster.LogsMatch(),
    cluster.ReplicasAgree(),
    cluster.ClusterHeals(),
)
EVERYBODY: tuple[Checker, ...] = (*BELIEVED, cluster.StatesFollow(), *AT_PEACE)
COORDINATORS: tuple[Checker, ...] = coordination.coordinators(one_leader=False)

HARMLESS = (Kind.DISCONNECT, Kind.SLOW_DISK, Kind.CLOCK_JUMP, Kind.STRAY)
KILLS = (
    Kind.KILL_AHEAD,
    Kind.KILL_AHEAD,
    Kind.KILL,
    Kind.KILL_INSIDE,
    Kind.KILL_CONTROLLER,
    Kind.KILL_ALL,
    Kind.STOP,
    Kind.STOP,
)
SESSIONS = (
    Kind.EXPIRE,
    Kind.BREAK_STORE,
    Kind.DEPOSE,
    Kind.FREEZE,
    Kind.FREEZE_AHEAD,
    Kind.LEADER_AWAY,
    Kind.ENSEMBLE_OUT,
)
CUTS = (
    Kind.ISOLATE_AHEAD,
    Kind.CUT_ONE_WAY,
    Kind.CUT_RING,
    Kind.ISOLATE,
    Kind.SPLIT_FROM_BROKERS,
    Kind.SPLIT_FROM_ENSEMBLE,
    Kind.CUT_CLIENT,
    Kind.CUT_CLIENTS,
    Kind.DELAY,
)
FORGETTING = (
    Kind.POWER_LOSS,
    Kind.POWER_LOSS_AHEAD,
    Kind.POWER_LOSS_INSIDE,
    Kind.FORGET_A_CUT,
    Kind.LOSE_DISK,
    Kind.RETURN_UNHEARD,
    Kind.LAST_STANDING,
)
EVERYTHING = (*KILLS, *SESSIONS, *CUTS, *FORGETTING, Kind.IO_ERROR, *HARMLESS)

KILLED = ClusterPromise(
    "cluster_kill",
    "Brokers are killed or stopped, the controller or all of them too: what all in-sync replicas "
    "acknowledged is kept, once and in order, and the cluster heals.",
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
    creates=4,
)

FORGETFUL = ClusterPromise(
    "cluster_power_loss",
    "One machine after the other loses what was not synced, or its whole disk: the others remember, and "
    "nobody who has forgotten is elected.",
    (*FORGETTING, *FORGETTING, Kind.KILL, Kind.FREEZE, Kind.IO_ERROR, *HARMLESS),
    EVERYBODY,
    last=Kind.POWER_LOSS,
)

DELETED = ClusterPromise(
    "cluster_deletion",
    "A topic is deleted while brokers are away: none of them brings it back.",
    EVERYTHING,
    (*EVERYBODY, cluster.DeletedStaysDeleted()),
    deletes=True,
)

LAST_STANDING = ClusterPromise(
    "cluster_last_replica",
    "Only one replica is left, and it dies without a clean stop: those that were eligible have everything.",
    (Kind.LAST_STANDING, Kind.LAST_STANDING, Kind.STOP, Kind.KILL_AHEAD, *HARMLESS),
    EVERYBODY,
    brokers=(3, 4),
    styles=(Style(batches=20, think_ms=200, begins_alone=True),),
    faults_ms=2400,
)

CHAOS = ClusterPromise(
    "cluster_chaos",
    "Everything goes wrong, one thing upon the other: nothing acknowledged is lost, and the cluster heals.",
    EVERYTHING,
    EVERYBODY,
    styles=(Style(batches=30, think_ms=300, begins_alone=True),),
    producers=(2, 2),
    faults_max=10,
    faults_ms=2600,
    creates=2,
)

MOVED = ClusterPromise(
    "cluster_moves",
    "Replicas move from broker to broker and from disk to disk, and back, while everything else goes wrong: "
    "what was acknowledged is where they arrive, and every move ends.",
    EVERYTHING,
    (*EVERYBODY, cluster.MovesEnd()),
    brokers=(3, 4, 4, 5, 5),
    properties={"log.dirs": ",".join(DIRECTORIES)},
    moves=True,
)

CARELESS_TOPIC = ClusterPromise(
    "cluster_unclean",
    "One topic is led by whoever is there, and loses records by that: no other topic does, and the cluster "
    "heals.",
    (*EVERYTHING, *[Kind.LEADER_AWAY] * 12),
    (
        *(cluster.Beside(checker, CARELESS.name) for checker in (*BELIEVED, cluster.StatesFollow())),
        *AT_PEACE,
    ),
    careless=True,
    faults_ms=2400,
)

_COORDINATED = {
    **coordination.PROPERTIES,
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
}

GROUPS = ClusterPromise(
    "cluster_groups",
    "Coordinators of groups fail over with their partitions: no commit is lost, nothing is skipped, and a "
    "group is stable in the end.",
    (*EVERYTHING, Kind.CLIENT_FREEZE, Kind.KILL_COORDINATOR_AHEAD, Kind.KILL_COORDINATOR_AHEAD),
    (*EVERYBODY, *COORDINATORS),
    brokers=(3,),
    styles=(Style(batches=10, think_ms=450, begins_alone=True),),
    producers=(1, 1),
    properties=_COORDINATED,
    hires=coordination.some_readers,
)

TRANSACTIONS = replace(
    GROUPS,
    name="cluster_transactions",
    says="Coordinators of transactions fail over with their partitions: none is torn, lost or left open.",
    producers=(0, 1),
    hires=coordination.some_writers,
)


def _workers(random: SeededRandom) -> list[Hiring]:
    return [*coordination.some_workers(random)]


EXACTLY_ONCE = replace(
    GROUPS,
    name="cluster_exactly_once",
    says="Workers consume, transform and produce while coordinators fail over: of every record there is one "
    "result.",
    checkers=(*EVERYBODY, *COORDINATORS, transactions.ExactlyOnce(coordination.OUTPUT)),
    hires=_workers,
)

CLUSTER_PROMISES = {
    promise.name: promise
    for promise in (
        KILLED,
        PARTITIONED,
        SESSIONS_END,
        FORGETFUL,
        DELETED,
        LAST_STANDING,
        CHAOS,
        MOVED,
        CARELESS_TOPIC,
        GROUPS,
        TRANSACTIONS,
        EXACTLY_ONCE,
    )
}
