"""What others write into the tree is carried out: a topic created, grown, deleted or set by a tool of Kafka
2.x, which talks to ZooKeeper and not to brokers. What we write ourselves is known, and costs one look.
What they order under /admin is in `tree_orders`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from barnabas.broker.cluster import tree_orders
from barnabas.broker.cluster.tree_orders import TreeOrders
from barnabas.controller import tree
from barnabas.controller.deletion import DeletedTopic, TopicSelector, delete_topics
from barnabas.controller.znodes.fields import MalformedNodeError
from barnabas.controller.znodes.topics import decode_topic
from barnabas.ports import ChildNames, Children, Completed, Delete, Get, StoreError, Value

if TYPE_CHECKING:
    from barnabas.broker.node import Node

log = logging.getLogger("kafka.controller.KafkaController")

_FOLDERS = (tree.TOPICS, tree.DELETE_TOPICS, tree.CONFIG_CHANGES)


class TreeWatch:
    """`look_again` reads the whole tree, and calls `arm` when the image shows it."""

    def __init__(self, node: Node, look_again: Callable[[], None]) -> None:
        self._node = node
        self._look_again = look_again
        self._watched: set[str] = set()  # topics
        self._beyond_us: set[str] = set()  # names whose nodes cannot be read: looking again does not help
        self._changes: set[str] = set()
        self._orders = TreeOrders(node)

    def arm(self) -> None:
        self._watched.clear()
        self._beyond_us -= self._node.image.topics.keys()
        self._watch_topics([*self._node.image.topics, *self._node.image.unreadable])
        self._node.store.submit([Children(path, watch=True) for path in _FOLDERS], self._listed)
        self._orders.forget()
        self._read_orders(tree_orders.PATHS)

    def changed(self, path: str) -> None:
        """A lost connection fires all of them at once: they are looked at together."""
        if not self._changes:
            self._node.timers.at(self._node.now_ms, self._look)
        self._changes.add(path)

    def _look(self) -> None:
        changes, self._changes = self._changes, set()
        folders = [Children(path, watch=True) for path in _FOLDERS if path in changes]
        if folders:
            self._node.store.submit(folders, self._listed)
        self._read_orders(path for path in tree_orders.PATHS if path in changes)
        rest = changes.difference(_FOLDERS, tree_orders.PATHS)
        topics = {path.removeprefix(f"{tree.TOPICS}/") for path in rest}
        self._watched -= topics
        if not topics.isdisjoint(self._node.image.unreadable):
            self._look_again()  # somebody has mended it, perhaps
            return
        self._watch_topics(topic for topic in topics if topic in self._node.image.topics)

    def _watch_topics(self, topics: Iterable[str]) -> None:
        new = [topic for topic in topics if topic not in self._watched]
        self._watched.update(new)
        if new:
            reads = [Get(tree.topic_path(topic), watch=True) for topic in new]
            self._node.store.submit(reads, self._topics_read)

    def _read_orders(self, paths: Iterable[str]) -> None:
        reads = [Get(path, watch=True) for path in paths]
        if reads:
            self._node.store.submit(reads, self._ordered)

    def _ordered(self, completed: Completed) -> None:
        for answer in completed.answers:
            if isinstance(answer, Value):
                self._orders.handle(answer)

    # A lost connection fires every watch, an ended session has the tree read again: an error needs nothing.

    def _listed(self, completed: Completed) -> None:
        for answer in completed.answers:
            match answer:
                case ChildNames(tree.TOPICS, names):
                    self._compare(names)
                case ChildNames(tree.DELETE_TOPICS, names) if names:
                    self._delete(names)
                case ChildNames(tree.CONFIG_CHANGES, names) if names:
                    self._take_configs(names)

    def _compare(self, names: tuple[str, ...]) -> None:
        topics = self._node.image.topics
        unknown = set(names) - topics.keys() - self._beyond_us
        if unknown:
            log.info("New topics: [%s]", ", ".join(sorted(unknown)))
            self._beyond_us |= unknown
            self._look_again()
        else:
            self._watch_topics(name for name in names if name in topics)

    def _topics_read(self, completed: Completed) -> None:
        if any(isinstance(answer, Value) and self._has_grown(answer) for answer in completed.answers):
            self._look_again()

    def _has_grown(self, value: Value) -> bool:
        topic = self._node.image.topics.get(value.path.rpartition("/")[2])
        try:
            written = decode_topic(value.path, value.data)
        except MalformedNodeError as problem:
            log.warning("%s", problem)
            return False
        return topic is not None and len(written.replicas) > len(topic.partitions)

    def _delete(self, names: tuple[str, ...]) -> None:
        """Whatever is asked for is taken from the list, as Kafka does, also where no topic may be deleted."""
        node = self._node
        doomed = [name for name in names if name in node.image.topics]
        rest = [name for name in names if name not in doomed]
        if not node.settings.boolean("delete.topic.enable"):
            doomed, rest = [], list(names)
        if rest:
            nodes = [Delete(f"{tree.DELETE_TOPICS}/{name}", missing_ok=True) for name in rest]
            node.store.submit(nodes, lambda _completed: None)
        if doomed:
            log.info("Starting topic deletion for topics %s", ",".join(doomed))
            selectors = [TopicSelector(name) for name in doomed]
            node.controller.decide(lambda image: delete_topics(image, selectors), _published)

    def _take_configs(self, names: tuple[str, ...]) -> None:
        """Alone here, nobody else waits for the notes: they go, and the settings they speak of are read."""
        notes = [Delete(f"{tree.CONFIG_CHANGES}/{name}", missing_ok=True) for name in names]

        def gone(completed: Completed) -> None:
            if completed.error is None:
                self._look_again()

        self._node.store.submit(notes, gone)


def _published(_results: tuple[DeletedTopic, ...], _error: StoreError | None) -> None:
    """Nobody waits for an answer: the tree and the image show it. What failed is tried at the next look."""
