"""What only the ZooKeeper home can promise: sessions that others end, servers that go, neighbours."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError
from tests.support.store import Harness
from tests.support.zookeeper import ZookeeperServer

from barnabas.ports import (
    Changed,
    Check,
    Children,
    Completed,
    Create,
    Delete,
    DeniedError,
    Get,
    Put,
    SessionEnded,
    Set,
    StoreLostError,
    Subtree,
    TooLargeError,
    Value,
    Values,
)
from barnabas.store.zookeeper import ZookeeperStore
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_options import Login, ZookeeperOptions
from barnabas.testing import free_port

OpenStore = Callable[[ZookeeperOptions], Harness]
InZookeeper = Callable[..., ZookeeperOptions]
StartZookeeper = Callable[..., ZookeeperServer]

AN_HOUR_MS = 3_600_000
PATIENCE_SECONDS = 60
MANY = 500


def end_session(home: Harness, server: ZookeeperServer) -> None:
    """As an ensemble does that has not heard from a broker for too long: somebody who knows the session's
    password closes it."""
    store = home.store
    assert isinstance(store, ZookeeperStore)
    other = KazooClient(server.connect, client_id=store._client.client_id)
    other.start()
    other.stop()
    other.close()


# --- sessions ---


def test_an_ended_session_is_told_with_its_nodes_gone_and_another_begins(
    zookeeper: ZookeeperServer, in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    home = open_store(in_zookeeper())
    first_id = home.session_id
    home.run(Create("/broker", b"1", ephemeral=True))
    end_session(home, zookeeper)
    home.wait_for_new_session()
    assert home.value("/broker") is None
    (created,) = home.run(Create("/broker", b"2", ephemeral=True))
    assert isinstance(created, Value)
    assert created.stat.ephemeral_owner not in {0, first_id}


def test_what_was_submitted_before_its_author_knew_of_the_end_is_not_carried_out(
    zookeeper: ZookeeperServer, in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    home = open_store(in_zookeeper())
    home.run(Create("/a", b"old"))
    watcher = open_store(in_zookeeper())
    home.run(Create("/e", ephemeral=True))
    watcher.value("/e", watch=True)
    end_session(home, zookeeper)
    watcher.wait_for("the session's end", lambda seen: Changed("/e") in seen)
    tickets = [home.submit(Set("/a", b"new")), home.submit(Put("/b/c", b"")), home.submit(Get("/a"))]
    errors = [home.completed(ticket).error for ticket in tickets]
    assert [type(error) for error in errors] == [StoreLostError] * 3
    home.wait_for_new_session()
    assert watcher.data("/a") == b"old"
    assert home.run(Set("/a", b"newer")) != ()


def test_a_short_pause_of_the_server_is_not_noticed(
    start_zookeeper: StartZookeeper, open_store: OpenStore
) -> None:
    server = start_zookeeper()
    server.wait()
    home = open_store(ZookeeperOptions(server.connect))
    home.run(Create("/e", ephemeral=True))
    server.pause()
    ticket = home.submit(Get("/e"))
    server.go_on()
    assert home.completed(ticket).error is None
    assert not any(isinstance(event, SessionEnded) for event in home.seen)


def test_a_client_that_gave_up_is_started_again(
    in_zookeeper: InZookeeper, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = open_store(in_zookeeper())
    home.run(Create("/e", ephemeral=True))
    assert isinstance(home.store, ZookeeperStore)
    connection = home.store._client._connection
    real = connection._read_socket

    def refuse_the_login(timeout: float) -> object:
        connection._read_socket = real
        raise AuthFailedError

    monkeypatch.setattr(connection, "_read_socket", refuse_the_login)
    assert isinstance(home.error(Set("/e", b"")), StoreLostError)
    home.wait_for_new_session()
    home.run(Create("/f", ephemeral=True))


# --- servers that go and come back ---


def test_a_session_outlives_its_server_and_so_do_its_nodes(
    start_zookeeper: StartZookeeper, open_store: OpenStore
) -> None:
    server = start_zookeeper()
    server.wait()
    home = open_store(ZookeeperOptions(server.connect))
    home.run(Create("/e", b"x", ephemeral=True))
    home.value("/e", watch=True)
    home.run(Children("/", watch=True))
    server.kill()
    home.wait_for("the watches", lambda seen: Changed("/e") in seen and Changed("/") in seen)
    reading = home.submit(Get("/e"))
    server.start()
    assert home.completed(reading).error is None
    assert home.data("/e") == b"x"
    assert not any(isinstance(event, SessionEnded) for event in home.seen)


def test_a_write_on_its_way_is_lost_with_the_connection_and_what_follows_is_not(
    start_zookeeper: StartZookeeper, open_store: OpenStore
) -> None:
    server = start_zookeeper()
    server.wait()
    home = open_store(ZookeeperOptions(server.connect))
    home.run(Create("/a", b"old"))
    server.pause()
    tickets = [home.submit(Set("/a", b"new")), home.submit(Get("/a")), home.submit(Subtree("/"))]
    server.kill()
    assert isinstance(home.completed(tickets[0]).error, StoreLostError)
    server.start()
    assert [home.completed(ticket).error for ticket in tickets[1:]] == [None, None]
    answered = [event.ticket for event in home.seen if isinstance(event, Completed)]
    assert answered == sorted(answered)


def test_closing_without_a_server_loses_what_waits_and_waits_for_nothing(
    start_zookeeper: StartZookeeper, open_store: OpenStore
) -> None:
    server = start_zookeeper()
    server.wait()
    home = open_store(ZookeeperOptions(server.connect, connection_timeout_ms=AN_HOUR_MS))
    home.value("/", watch=True)
    server.kill()
    home.wait_for("the connection's end", lambda seen: Changed("/") in seen)
    tickets = [home.submit(Get("/")) for _ in range(MANY)]
    tickets.append(home.submit(Create("/a")))
    closing = threading.Thread(target=home.store.close, daemon=True)
    closing.start()
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    assert all(isinstance(home.completed(ticket).error, StoreLostError) for ticket in tickets)


def test_an_ensemble_of_three_goes_on_when_its_leader_is_killed(
    start_zookeeper: StartZookeeper, open_store: OpenStore
) -> None:
    servers = start_ensemble(start_zookeeper)
    home = open_store(ZookeeperOptions(",".join(server.connect for server in servers) + "/kafka"))
    home.run(Create("/e", b"x", ephemeral=True))
    leader = next(server for server in servers if server.mode() == "leader")
    leader.kill()
    number = 0
    while home.error(Put(f"/after-{number}", b"")) is not None:
        number += 1
    assert home.data("/e") == b"x"
    assert not any(isinstance(event, SessionEnded) for event in home.seen)


def test_a_server_without_a_majority_is_no_connection(start_zookeeper: StartZookeeper) -> None:
    """Even one that lets clients read: what it knows may be old."""
    lines = "".join(f"server.{n}=127.0.0.1:{free_port()}:{free_port()}\n" for n in (1, 2, 3))
    server = start_zookeeper(
        extra=f"initLimit=50\nsyncLimit=25\n{lines}",
        myid=1,
        java_options=["-Dreadonlymode.enabled=true"],
    )
    store = ZookeeperStore(ZookeeperOptions(server.connect, connection_timeout_ms=3_000))
    with pytest.raises(ZookeeperError, match="No connection to ZooKeeper"):
        store.start(lambda: None)


def start_ensemble(start: StartZookeeper) -> list[ZookeeperServer]:
    lines = "".join(f"server.{n}=127.0.0.1:{free_port()}:{free_port()}\n" for n in (1, 2, 3))
    servers = []
    for number in (1, 2, 3):
        server = start(f"server-{number}", extra=f"initLimit=50\nsyncLimit=25\n{lines}", myid=number)
        servers.append(server)
    for server in servers:
        server.wait()
    return servers


# --- several in one tree ---


def test_a_change_by_another_is_told(in_zookeeper: InZookeeper, open_store: OpenStore) -> None:
    one, other = open_store(in_zookeeper()), open_store(in_zookeeper())
    one.value("/a/b", watch=True)
    other.run(Put("/a/b", b"x"))
    one.wait_for("the change", lambda seen: Changed("/a/b") in seen)
    assert one.data("/a/b") == b"x"


def test_who_reads_again_at_each_change_ends_with_the_last_value(
    in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    reader, writer = open_store(in_zookeeper()), open_store(in_zookeeper())
    writes = 300
    writing = threading.Thread(
        target=lambda: [writer.run(Put("/a", str(n).encode())) for n in range(1, writes + 1)]
    )
    writing.start()
    asked = reader.submit(Get("/a", watch=True))
    known: list[bytes] = []
    taken = 0

    def follow(seen: list[object]) -> bool:
        nonlocal taken, asked
        for event in seen[taken:]:
            taken += 1
            if isinstance(event, Completed) and event.ticket == asked:
                known.extend(answer.data for answer in event.answers if isinstance(answer, Value))
                asked = 0
            elif event == Changed("/a") and not asked:  # while a question is open, its answer will be newer
                asked = reader.submit(Get("/a", watch=True))
        return known[-1:] == [str(writes).encode()]

    reader.wait_for("the last value", follow)  # type: ignore[arg-type]
    writing.join()
    assert known == sorted(known, key=int)


def test_plans_that_others_overtake_are_made_again(in_zookeeper: InZookeeper, open_store: OpenStore) -> None:
    stores = [open_store(in_zookeeper()) for _ in range(3)]
    stores[0].run(Create("/shared"))
    errors: list[object] = []

    def work(home: Harness) -> None:
        for number in range(40):
            errors.append(home.error(Put(f"/shared/x/{number % 5}/y", b"")))
            errors.append(home.error(Delete("/shared/x", recursive=True, missing_ok=True)))

    threads = [threading.Thread(target=work, args=(home,)) for home in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [None] * len(errors)


# --- the place, the size, the identity ---


def test_a_chroot_is_made_where_it_is_missing(
    zookeeper: ZookeeperServer, in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    options = in_zookeeper()
    inside = open_store(ZookeeperOptions(f"{options.connect}/deep/er"))
    inside.run(Create("/a", b"x"))
    outside = open_store(ZookeeperOptions(zookeeper.connect))
    assert outside.data(f"{options.chroot}/deep/er/a") == b"x"


def test_a_submission_too_large_for_a_server_is_refused_and_the_session_lives(
    in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    home = open_store(in_zookeeper())
    error = home.error(Create("/small"), Create("/large", b"x" * 1_100_000))
    assert isinstance(error, TooLargeError)
    assert error.path == "/large"
    home.run(Create("/small"))
    assert not any(isinstance(event, SessionEnded) for event in home.seen)


def test_a_thousand_operations_are_one_multi(in_zookeeper: InZookeeper, open_store: OpenStore) -> None:
    home = open_store(in_zookeeper())
    error = home.error(*(Create(f"/n{number}") for number in range(1000)), Check("/missing"))
    assert error is not None
    assert home.names("/") == ()
    home.run(*(Put(f"/topics/t{number}/partitions/0/state", b"{}") for number in range(500)))
    (answer,) = home.run(Subtree("/topics"))
    assert isinstance(answer, Values)
    assert len(answer.values) == 1 + 500 * 4


def test_access_lists_keep_others_from_writing_and_secrets_from_being_read(
    in_zookeeper: InZookeeper, open_store: OpenStore
) -> None:
    owner = open_store(in_zookeeper(set_acl=True, digest=Login("barnabas", "secret")))
    owner.run(Put("/brokers/ids", b"public"), Put("/config/users/alice", b"hash"), Put("/consumers", b""))
    stranger = open_store(in_zookeeper())
    assert stranger.data("/brokers/ids") == b"public"
    assert isinstance(stranger.error(Set("/brokers/ids", b"mine")), DeniedError)
    assert isinstance(stranger.error(Get("/config/users/alice")), DeniedError)
    assert stranger.error(Create("/consumers/old")) is None
    same = open_store(in_zookeeper(digest=Login("barnabas", "secret")))
    assert same.data("/config/users/alice") == b"hash"


def test_no_server_is_a_sentence() -> None:
    store = ZookeeperStore(ZookeeperOptions(f"127.0.0.1:{free_port()}", connection_timeout_ms=2_000))
    with pytest.raises(
        ZookeeperError, match=r"No connection to ZooKeeper at 127.0.0.1:.* within 2 s .*refused"
    ):
        store.start(lambda: None)


@pytest.mark.parametrize("connect", ["", "host:", "host:x", "a:1,,b:2", ":2181", "host:2181/a//b"])
def test_a_connect_string_that_is_none_is_a_sentence(connect: str) -> None:
    with pytest.raises(ZookeeperError, match=r"zookeeper\.connect="):
        ZookeeperStore(ZookeeperOptions(connect))
