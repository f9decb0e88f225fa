"""What the ZooKeeper scripts decide without a ZooKeeper."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from barnabas.cli import zookeeper_server_start, zookeeper_shell
from barnabas.cli.zookeeper_server_stop import servers
from barnabas.cli.zookeeper_shell import client_settings
from barnabas.runtime.zookeeper import MARK, SERVER_CLASS, class_path, is_server
from barnabas.testing import free_port

OURS = ["/usr/bin/java", "-Xmx512M", f"{MARK}/etc/a.properties", "-cp", "x.jar", SERVER_CLASS, "a"]


def make_process(proc: Path, pid: int, words: list[str]) -> None:
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (OURS, True),
        (["/usr/bin/java", "-cp", "x.jar", SERVER_CLASS, "zoo.cfg"], False),
        (["java", SERVER_CLASS, f"{MARK}x"], False),
        (["vi", *OURS], False),
        (["java", f"{MARK}x", "kafka.Kafka"], False),
        ([], False),
    ],
)
def test_only_what_our_script_started_is_ours_to_stop(words: list[str], ours: bool) -> None:
    assert is_server(words) is ours


def test_servers_are_found_with_their_files(tmp_path: Path) -> None:
    make_process(tmp_path, 10, OURS)
    make_process(tmp_path, 11, ["/usr/bin/java", "-cp", "x.jar", SERVER_CLASS, "zoo.cfg"])
    (tmp_path / "version").write_text("no process")
    assert servers(tmp_path, os.getuid()) == {10: "/etc/a.properties"}
    assert servers(tmp_path, os.getuid() + 1) == {}


def test_the_class_path_has_zookeeper_and_no_more_of_spark_than_it_needs() -> None:
    names = [os.path.basename(path) for path in class_path("this test").split(os.pathsep)]
    assert any(name.startswith("zookeeper-3") for name in names)
    assert not any("spark" in name or "linux" in name for name in names)
    assert len(names) < 40


def test_without_the_jars_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "zookeeper.properties"
    file.write_text(f"dataDir={tmp_path}\nclientPort={free_port()}\n")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert zookeeper_server_start.main([str(file)]) == 2
    assert "pip install 'barnabas[cluster]'" in capsys.readouterr().err
    assert zookeeper_shell.main(["localhost:2181", "ls", "/"]) == 1
    assert "pip install 'barnabas[cluster]'" in capsys.readouterr().err


def test_without_java_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "zookeeper.properties"
    file.write_text(f"dataDir={tmp_path}\nclientPort={free_port()}\n")
    monkeypatch.setattr("barnabas.java.candidates", lambda: iter(()))
    assert zookeeper_server_start.main([str(file)]) == 2
    said = capsys.readouterr().err
    assert "zookeeper-server-start needs Java 17 or newer" in said
    assert "apt-get install" in said


def test_the_file_with_kafkas_names_becomes_one_with_zookeepers() -> None:
    assert client_settings(
        {
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.ssl.keystore.location": "k.pem",
            "zookeeper.ssl.endpoint.identification.algorithm": "",
            "zookeeper.connect": "host:2181",
        }
    ) == {
        "zookeeper.client.secure": "true",
        "zookeeper.ssl.keyStore.location": "k.pem",
        "zookeeper.ssl.hostnameVerification": "false",
    }
