"""How a broker belongs to a cluster: its session with the store, its registration, and whom it takes for the
controller, itself perhaps.

One look answers every question: read a few nodes, write what is missing, look again until nothing is.
Whatever changes, ends or fails leads back to a look, so that there is one way in, at the start and later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from barnabas.broker.cluster.controller_link import NOBODY
from barnabas.broker.cluster.image_puller import ImagePuller
from barnabas.broker.cluster.office import Office
from barnabas.controller import tree
from barnabas.controller.rebuild import values_of
from barnabas.controller.registration import enter, is_of_claim
from barnabas.controller.znodes import cluster
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.model.image import BrokerImage, ClusterImage
from barnabas.ports import (
    Changed,
    Check,
    Completed,
    Delete,
    Get,
    SessionBegan,
    SessionEnded,
    StoreLostError,
    Value,
    Write,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.server.BrokerServer")

RETRY_MS = 1_000
_RACE_MS = 20  # others who start at the same time make the same nodes
# An ensemble ends a session some ticks after its time.
_SESSION_MARGIN_MS = 5_000


class StillHeldError(Exception):
    """Another session holds this broker's registration for longer than any session lasts."""


class Membership:
    """`arrived` gets every new image, however it came."""

    def __init__(
        self,
        node: Node,
        broker: BrokerImage,
        features: Mapping[str, int],
        arrived: Callable[[ClusterImage], None],
    ) -> None:
        self._node = node
        self._broker = broker
        self._features = features
        self._session_id = 0
        self._attempt = 0  # what belongs to an earlier one is over
        self._held_since_ms: int | None = None
        self.epoch = -1  # of our registration
        self.office = Office(node, arrived, self.look)
        self._puller = ImagePuller(node, arrived, self._depose)
        self._claim: tuple[Value, Value | None] | None = None  # on the office, and its epoch
        self._deposed_session_id = 0
        self._reads = (
            Get(tree.broker_path(broker.id), watch=True),
            Get(tree.CONTROLLER, watch=True),
            *(Get(path) for path in (tree.CONTROLLER_EPOCH, tree.CLUSTER_ID, tree.FEATURE)),
            *(Get(path) for path in tree.PERSISTENT_PATHS),
        )

    def begin(self, session_id: int, *, unclean: bool) -> None:
        """Join the cluster in this session. `unclean`: what the log holds may be less than it once was."""
        node = self._node
        self._session_id = session_id
        self._broker = replace(self._broker, fenced=unclean)
        node.store.on_session = self._session
        node.store.on_changed = self._changed
        node.controller.on_lost = self._lost
        self.look()

    def _session(self, event: SessionBegan | SessionEnded) -> None:
        match event:
            case SessionEnded():
                log.warning("The session with ZooKeeper has ended; this broker registers again")
                self._attempt += 1
                if self._is_admitted:
                    # The process has lived through it: its log is what it was when it was let in.
                    self._broker = replace(self._broker, fenced=False)
                self.epoch = -1
                self._resign()
            case SessionBegan(session_id):
                self._session_id = session_id
                self.look()

    @property
    def _is_admitted(self) -> bool:
        """Whether the controller has seen to this life of ours. Until then an unclean start stays one, in
        however many sessions it takes: whoever counts on us might count on what we have lost."""
        own = self._node.image.brokers.get(self._broker.id)
        return own is not None and own.epoch == self.epoch and not own.fenced

    def _changed(self, event: Changed) -> None:
        if event.path in {tree.CONTROLLER, tree.broker_path(self._broker.id)}:
            self.look()
        else:
            self.office.changed(event.path)

    def _lost(self) -> None:
        """A decision's write was refused or its fate is not known: the tree says what is true."""
        self.office.look_again()
        self.look()

    # --- looking -------------------------------------------------------------------------------------------

    def look(self) -> None:
        self._attempt += 1
        attempt = self._attempt

        def read(completed: Completed) -> None:
            if attempt != self._attempt:
                return
            if completed.error is not None:
                self._later(RETRY_MS)
                return
            self._seen({value.path: value for value in values_of(completed)})

        self._node.store.submit(self._reads, read)

    def _seen(self, values: dict[str, Value]) -> None:
        own, controller = values.get(tree.broker_path(self._broker.id)), values.get(tree.CONTROLLER)
        if own is not None and own.stat.ephemeral_owner != self._session_id:
            self._await_end(own)
            return
        self._held_since_ms = None
        if controller is None:
            self._resign()  # somebody may have taken the node away to have the office change hands
        node = self._node
        writes = enter(
            values.values(),
            self._broker,
            cluster_id=node.image.cluster_id,
            features=self._features,
            now_ms=node.wall_ms,
        )
        if writes:
            self._write(writes)
            return
        assert own is not None
        assert controller is not None
        if not self._says_where_we_are(own):
            # A controller that had not heard of this life has let the one before in, and written over ours:
            # nobody would find us. Nor does it count as our admission, so we register as what we are.
            log.warning("%s tells of an earlier life of this broker; registering again", own.path)
            self._write((Delete(own.path, own.stat.version),))
            return
        self.epoch = own.stat.czxid
        if not _is_unclean(own):
            self._broker = replace(self._broker, fenced=False)  # the controller has seen to it
        self._claim = (controller, values.get(tree.CONTROLLER_EPOCH))
        self._follow(controller)

    def _says_where_we_are(self, own: Value) -> bool:
        path, epoch = own.path, own.stat.czxid
        try:
            told = cluster.decode_broker(path, own.data, epoch)
        except MalformedNodeError:
            return True  # whoever wrote that has to see to it
        meant = cluster.decode_broker(path, cluster.encode_broker(self._broker, 0), epoch)
        return (told.endpoints, told.rack) == (meant.endpoints, meant.rack)

    def _write(self, writes: tuple[Write, ...]) -> None:
        attempt = self._attempt

        def written(completed: Completed) -> None:
            if attempt != self._attempt:
                return
            if completed.error is None:
                self.look()
            else:
                # Somebody was faster, or the connection is gone.
                self._later(RETRY_MS if isinstance(completed.error, StoreLostError) else _RACE_MS)

        self._node.store.submit(writes, written)

    def _await_end(self, held: Value) -> None:
        """An earlier life of this broker ended without a word, and its session lives on for a while. The
        watch tells when it has ended; the timer is for a watch that was lost."""
        node = self._node
        limit_ms = node.settings.integer("zookeeper.session.timeout.ms") + _SESSION_MARGIN_MS
        if self._held_since_ms is None:
            log.info("%s is held by an earlier session; waiting until that has ended", held.path)
            self._held_since_ms = node.now_ms
        elif node.now_ms - self._held_since_ms > limit_ms and self.epoch < 0 and not node.is_ready:
            raise StillHeldError(
                f"{held.path} is still held by another session: is another broker running with the id "
                f"{self._broker.id}? Stop it, or choose another broker.id."
            )
        self._later(RETRY_MS)

    def _later(self, delay_ms: int) -> None:
        attempt = self._attempt

        def again() -> None:
            if attempt == self._attempt:
                self.look()

        self._node.timers.at(self._node.now_ms + delay_ms, again)

    # --- the controller ------------------------------------------------------------------------------------

    def _follow(self, controller: Value) -> None:
        node = self._node
        try:
            controller_id = cluster.decode_controller(controller.path, controller.data)
        except MalformedNodeError as problem:
            log.error("%s", problem)
            controller_id = NOBODY
        if controller.stat.ephemeral_owner == self._session_id:
            self._puller.stop()
            node.controller_link.follow(node.broker_id)
            self.office.take()
            return
        self.office.leave()
        self._puller.stop()
        if controller_id in {NOBODY, node.broker_id}:
            node.controller_link.follow(NOBODY)
            return  # of an earlier life of ours: the watch tells when its session has ended
        node.controller_link.follow(controller_id)
        self._puller.follow(controller_id)

    def _depose(self) -> None:
        """The controller's machine says that its process is gone: nobody need wait until its session ends as
        well. One that lives after all loses nothing but the office, since the epoch fences what it writes.
        Once a session: a wall that only we stand behind must not cost it the office again and again."""
        if self._claim is None:
            return
        controller, epoch = self._claim
        session_id = controller.stat.ephemeral_owner
        if session_id != self._deposed_session_id and epoch is not None and is_of_claim(epoch, controller):
            self._deposed_session_id = session_id
            log.warning("Nobody listens where the controller should be: its office is free for others")
            writes = (Check(epoch.path, epoch.stat.version), Delete(controller.path))
            self._node.store.submit(writes, lambda _completed: None)  # the watch tells if it came about

    def _resign(self) -> None:
        self._claim = None
        self.office.leave()
        self._puller.stop()
        self._node.controller_link.follow(NOBODY)


def _is_unclean(own: Value) -> bool:
    try:
        return cluster.decode_broker(own.path, own.data, own.stat.czxid).fenced
    except MalformedNodeError as problem:
        log.error("%s", problem)
        return True
