"""The home of a cluster: a ZooKeeper ensemble, through kazoo.

A thread of its own takes submissions in order. What is one round trip goes out behind what is not answered,
since an ensemble keeps the order of a session; what has to look first waits, and those behind it wait too. A
connection that drops costs the writes on their way (`StoreLostError`) and fires every watch; reads are asked
again. A session that ends takes with it every submission that was made before its owner knew of the end.
"""

from __future__ import annotations

import importlib.util
import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from kazoo.exceptions import KazooException, UnimplementedError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.serialization import GetData

from barnabas.ports import Read, SessionBegan, SessionEnded, StoreEvent, Write
from barnabas.store.session import EventQueue, check, lost
from barnabas.store.zookeeper_client import DROPPED, GONE, Client, Handler, MultiRead
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_nodes import Nodes
from barnabas.store.zookeeper_options import ZookeeperOptions, check_connect
from barnabas.store.zookeeper_worker import Close, Item, Submission, Wake, Worker

log = logging.getLogger("kafka.zookeeper.ZooKeeperClient")

_LOOK_AGAIN_SECONDS = 0.05
_RECONNECT = {"max_tries": -1, "delay": 0.05, "backoff": 2, "max_delay": 1.0}


class ZookeeperStore:
    def __init__(self, options: ZookeeperOptions) -> None:
        check_connect(options.connect, options.setting)
        self._options = options
        self._inbox: SimpleQueue[Item] = SimpleQueue()
        self._events = EventQueue()
        self._notify: Callable[[], None] = lambda: None
        self._last_ticket = 0
        self._ends_known = 0  # sessions whose end the owner has been told of
        self._closed = True
        self._handler = Handler(options.tls, lambda: self._inbox.put(Wake()))
        self._client = _client(options, self._handler, self._inbox)
        self._worker = Worker(self._client, options, self._inbox, self._add)
        self._thread = threading.Thread(target=self._worker.run, name="metadata-store", daemon=True)

    def start(self, notify: Callable[[], None]) -> None:
        """Waits for a connection, `zookeeper.connection.timeout.ms` at most: ZookeeperError stops the start
        with a sentence."""
        assert self._closed, "started twice"
        self._notify = notify
        live = self._client.start_async()
        try:
            self._reach(live, time.monotonic() + self._options.connection_timeout_ms / 1000)
        except BaseException:
            self._disconnect()
            raise
        self._closed = False
        self._thread.start()

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int:
        kind = check(operations)
        self._last_ticket += 1
        if self._closed:
            self._add(lost(self._last_ticket))
        else:
            self._inbox.put(Submission(self._last_ticket, operations, kind, self._ends_known))
        return self._last_ticket

    def events(self) -> list[StoreEvent]:
        taken = self._events.take()
        self._ends_known += sum(isinstance(event, SessionEnded) for event in taken)
        return taken

    def close(self) -> None:
        """What was submitted is carried out first, within `zookeeper.connection.timeout.ms`. Without a
        connection nothing can be: what waits is lost at once."""
        if self._closed:
            return
        self._closed = True
        self._inbox.put(Close())
        deadline_s = time.monotonic() + self._options.connection_timeout_ms / 1000
        while self._thread.is_alive() and self._client.connected and time.monotonic() < deadline_s:
            self._thread.join(_LOOK_AGAIN_SECONDS)
        self._worker.give_up()
        self._thread.join()
        self._disconnect()

    def _disconnect(self) -> None:
        self._client.stop()
        self._client.close()

    def _reach(self, live: threading.Event, deadline_s: float) -> None:
        """Connected is not enough: who we say we are is looked at after that, before the first answer."""
        while True:
            live.wait(max(0, deadline_s - time.monotonic()))
            try:
                self._make_chroot(max(0, deadline_s - time.monotonic()))
                return
            except (*DROPPED, *GONE, KazooTimeoutError) as error:
                if self._client.is_denied:
                    raise ZookeeperError(
                        f"ZooKeeper at {self._options.hosts} does not accept the login: correct the username "
                        "or the password in the JAAS file."
                    ) from error
                if time.monotonic() >= deadline_s:
                    raise ZookeeperError(self._unreachable()) from error
            except UnimplementedError as error:
                message = f"ZooKeeper at {self._options.hosts} is too old: version 3.6 or newer is needed."
                raise ZookeeperError(message) from error
            except KazooException as error:
                raise ZookeeperError(
                    f"ZooKeeper at {self._options.hosts} does not let us use {self._options.chroot or '/'}: "
                    f"{type(error).__name__}."
                ) from error
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _make_chroot(self, timeout_s: float) -> None:
        """As Kafka does. The root is always there, and so asking for it tells whether anybody answers."""
        path = self._options.chroot if self._options.make_chroot else ""
        path = path or "/"
        acl = Nodes("", set_acl=self._options.set_acl).acl(path)
        self._client.ensure_path_async(path, acl).get(timeout=timeout_s)
        self._client.send(MultiRead([GetData("/", None)])).get(timeout=timeout_s)

    def _unreachable(self) -> str:
        seconds = self._options.connection_timeout_ms / 1000
        problem = self._handler.last_problem
        return (
            f"No connection to ZooKeeper at {self._options.hosts} within {seconds:g} s"
            f"{f' ({problem})' if problem else ''}: start it (zookeeper-server-start zookeeper.properties), "
            f"or correct {self._options.setting}."
        )

    def _add(self, *events: StoreEvent) -> None:
        self._events.add(*events)
        self._notify()


def _client(options: ZookeeperOptions, handler: Handler, inbox: SimpleQueue[Item]) -> Client:
    sasl = None
    if options.sasl is not None:
        if importlib.util.find_spec("puresasl") is None:
            raise ZookeeperError("A login at ZooKeeper needs pure-sasl: pip install 'barnabas[cluster]'")
        sasl = {"mechanism": "DIGEST-MD5", "service": "zookeeper", "principal": "zk-sasl-md5"}
        sasl |= options.sasl._asdict()
    return Client(
        on_began=lambda session_id: inbox.put(SessionBegan(session_id)),
        on_ended=lambda: inbox.put(SessionEnded()),
        hosts=options.hosts,
        timeout=options.session_timeout_ms / 1000,
        handler=handler,
        connection_retry=_RECONNECT,
        logger=log,
        auth_data=[("digest", ":".join(options.digest))] if options.digest else None,
        sasl_options=sasl,
        use_ssl=options.tls is not None,
    )
