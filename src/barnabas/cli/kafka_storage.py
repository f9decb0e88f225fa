"""kafka-storage: format a broker's directories, look into them, make ids. Kafka's StorageTool 4.3.

A fresh directory formats itself when the broker starts, so `format` is only needed to choose the cluster's
id. `process.roles` is not required. Kafka also writes a `bootstrap.checkpoint` for its own controllers and
prints it; there is none here.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.parts.storage_features import (
    LATEST,
    RELEASES,
    UnknownFeatureError,
    check_feature,
    feature_dependencies,
    release_level,
    version_mapping,
)
from barnabas.cli.support.argument_parser import KafkaArgumentParser
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.properties import load_properties, properties_file
from barnabas.cli.support.running import run
from barnabas.log import meta_properties
from barnabas.log.meta_properties import META_PROPERTIES, MetaProperties
from barnabas.model.ids import uuid_text
from barnabas.model.properties import PropertiesError
from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.values import SettingError
from barnabas.runtime.files import RealFilesystem

_DEFAULT_LOG_DIR = "/tmp/kafka-logs"
_FIRST_GENERATED_ID = "1001"  # what a broker without an id calls itself
_FORMAT_USAGE = """kafka-storage format [-h] --config CONFIG --cluster-id CLUSTER_ID
                     [--add-scram ADD_SCRAM] [--ignore-formatted]
                     [--release-version RELEASE_VERSION]
                     [--feature FEATURE] [--standalone |
                     --no-initial-controllers |
                     --initial-controllers INITIAL_CONTROLLERS]"""


_ENSEMBLE = "org.apache.kafka.metadata.properties.MetaPropertiesEnsemble"


class StorageError(Exception):
    """Nothing was written; the sentence is Kafka's."""


def random_id() -> bytes:
    """Never one that a command line would take for an option."""
    while uuid_text(raw := uuid.uuid4().bytes).startswith("-"):
        pass
    return raw


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        match options.command:
            case "random-uuid":
                print(uuid_text(random_id()))
            case "version-mapping":
                print("\n".join(version_mapping(options.release_version or LATEST)))
            case "feature-dependencies":
                for feature in options.feature:
                    print("\n".join(feature_dependencies(feature)))
            case "info":
                return _info(_server_properties(options.config))
            case _:
                _format(options, _server_properties(options.config))
    except (StorageError, UnknownFeatureError, PropertiesError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> KafkaArgumentParser:
    parser = KafkaArgumentParser(
        prog="kafka-storage", description="Looks after a broker's directories.", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="what is in this node's directories", allow_abbrev=False)
    info.add_argument("--config", "-c", required=True, help="server.properties")
    formatting = commands.add_parser(
        "format", help="write meta.properties", usage=_FORMAT_USAGE, allow_abbrev=False
    )
    _add_format_options(formatting)
    mapping = commands.add_parser("version-mapping", help="feature levels of a release", allow_abbrev=False)
    mapping.add_argument("--release-version", "-r", help=f"a release (default {LATEST})")
    needs = commands.add_parser("feature-dependencies", help="what a feature level needs", allow_abbrev=False)
    needs.add_argument("--feature", "-f", action="append", required=True, help="feature=level")
    commands.add_parser("random-uuid", help="print a new id", allow_abbrev=False)
    return parser


def _add_format_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", "-c", required=True, help="server.properties")
    parser.add_argument("--cluster-id", "-t", required=True, help="the cluster these directories belong to")
    parser.add_argument("--add-scram", "-S", action="append", help="not available yet")
    parser.add_argument("--ignore-formatted", "-g", action="store_true", help="skip formatted directories")
    parser.add_argument("--release-version", "-r", help=f"a release (default {LATEST})")
    parser.add_argument("--feature", "-f", action="append", default=[], help="feature=level")
    quorum = parser.add_mutually_exclusive_group()
    quorum.add_argument("--standalone", "-s", action="store_true", help="this node is alone")
    quorum.add_argument("--no-initial-controllers", "-N", action="store_true", help="no quorum is known yet")
    quorum.add_argument("--initial-controllers", "-I", help="accepted; the metadata store decides")


# --- format ----------------------------------------------------------------------------------------------


def _format(options: argparse.Namespace, properties: dict[str, str]) -> None:
    release = RELEASES[release_level(options.release_version or LATEST)]
    for feature in options.feature:
        check_feature(feature)
    _check_quorum(options, properties)
    if options.add_scram:
        raise StorageError("--add-scram is not available yet: create users with kafka-configs once it is")
    directories = _readable(log_directories(properties))
    formatted = {name for name in directories if (Path(name) / META_PROPERTIES).exists()}
    _check_same_owner(sorted(formatted), options.cluster_id, node_id(properties))
    if formatted and not options.ignore_formatted:
        raise StorageError(
            f"Log directory {min(formatted)} is already formatted. Use --ignore-formatted to ignore this "
            "directory and format the others."
        )
    if formatted == set(directories):
        print("All of the log directories are already formatted.")
    voter = options.standalone or options.initial_controllers is not None
    metadata_kind = "dynamic metadata voter" if voter else "metadata"
    for name in directories:
        if name not in formatted:
            kind = metadata_kind if name == _metadata_directory(properties) else "data"
            print(f"Formatting {kind} directory {name} with metadata.version {release}.")
            _write(Path(name), options.cluster_id, node_id(properties))


def _readable(names: list[str]) -> list[str]:
    """Without those that are something else than directories."""
    found = []
    for name in names:
        path = Path(name)
        if path.exists() and not path.is_dir():
            meta = path / META_PROPERTIES
            print(f"I/O error trying to read log directory {name}. Ignoring...")
            log("ERROR", f"Error while reading meta.properties file {meta}", _ENSEMBLE)
            print(f"java.nio.file.FileSystemException: {meta}: Not a directory", file=sys.stderr)
        else:
            found.append(name)
    if not found:
        raise StorageError("No available log directories to format.")
    return found


def _check_quorum(options: argparse.Namespace, properties: dict[str, str]) -> None:
    chosen = options.standalone or options.initial_controllers is not None
    is_controller = "controller" in properties.get("process.roles", "")
    has_voters = bool(properties.get("controller.quorum.voters"))
    if options.standalone and properties.get("process.roles") and not is_controller:
        raise StorageError("You can only use --standalone on a controller.")
    if chosen and has_voters:
        raise StorageError(
            "You cannot specify controller.quorum.voters and format the node with --initial-controllers or "
            "--standalone. If you want to use dynamic quorum, please remove controller.quorum.voters and "
            "specify controller.quorum.bootstrap.servers instead."
        )
    if is_controller and not has_voters and not chosen and not options.no_initial_controllers:
        raise StorageError(
            "Because controller.quorum.voters is not set on this controller, you must specify one of the "
            "following: --standalone, --initial-controllers, or --no-initial-controllers."
        )


def _check_same_owner(directories: list[str], cluster_id: str, node: int) -> None:
    for name in directories:
        path = Path(name) / META_PROPERTIES
        found = load_properties(path)
        for key, expected in (("cluster.id", cluster_id), ("node.id", str(node))):
            if found.get(key, expected) != expected:
                raise StorageError(f"Invalid {key} in: {path}. Expected {expected}, but read {found[key]}")


def _write(directory: Path, cluster_id: str, node: int) -> None:
    """Complete and durable, or not there: the file decides whose directory this is."""
    directory.mkdir(parents=True, exist_ok=True)
    found = MetaProperties(cluster_id, node, random_id())
    meta_properties.write(RealFilesystem(), str(directory), found)


# --- what the properties say -----------------------------------------------------------------------------


def _server_properties(path: str) -> dict[str, str]:
    """A value that no setting takes is found here, not at the first start."""
    properties = properties_file(path)
    try:
        BrokerSettings.parse(properties)
    except SettingError as error:
        # Only values: a file may be meant for KRaft, and name what this broker does not open.
        if str(error).startswith("Invalid value "):
            raise StorageError(f"org.apache.kafka.common.config.ConfigException: {error}") from None
    return properties


def log_directories(properties: dict[str, str]) -> list[str]:
    text = properties.get("log.dirs") or properties.get("log.dir") or _DEFAULT_LOG_DIR
    names = {name.strip() for name in text.split(",") if name.strip()}
    return sorted(names | ({properties["metadata.log.dir"]} if properties.get("metadata.log.dir") else set()))


def _metadata_directory(properties: dict[str, str]) -> str:
    text = properties.get("log.dirs") or properties.get("log.dir") or _DEFAULT_LOG_DIR
    return properties.get("metadata.log.dir") or text.split(",", maxsplit=1)[0].strip()


def node_id(properties: dict[str, str]) -> int:
    text = properties.get("node.id") or properties.get("broker.id") or _FIRST_GENERATED_ID
    try:
        return int(text)
    except ValueError:
        raise StorageError(
            f"Invalid value {text} for configuration node.id: Not a number of type INT"
        ) from None


# --- info ------------------------------------------------------------------------------------------------


def _info(properties: dict[str, str]) -> int:
    found: list[str] = []
    problems: list[str] = []
    metadata: list[dict[str, str]] = []
    for name in log_directories(properties):
        directory = Path(name)
        if not directory.is_dir():
            problems.append(f"{name} is not a directory" if directory.exists() else f"{name} does not exist")
            continue
        found.append(name)
        path = directory / META_PROPERTIES
        if path.exists():
            metadata.append(load_properties(path))
            problems.extend(_differences(metadata))
        else:
            problems.append(f"{name} is not formatted.")
    if metadata and metadata[0].get("version") == "0" and properties.get("process.roles"):
        problems.append(
            "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories are "
            "formatted for legacy mode."
        )
    _print_list("Found log directory:", "Found log directories:", found)
    if metadata:
        pairs = ", ".join(f"{key}={value}" for key, value in sorted(metadata[0].items()))
        print(f"Found metadata: {{{pairs}}}\n")
    _print_list("Found problem:", "Found problems:", problems)
    return 1 if problems else 0


def _differences(metadata: list[dict[str, str]]) -> list[str]:
    first, last = metadata[0], metadata[-1]
    if first.get("cluster.id") != last.get("cluster.id"):
        return ["Mismatched cluster IDs between storage directories."]
    if first.get("node.id") != last.get("node.id"):
        return ["Mismatched node IDs between storage directories."]
    return []


def _print_list(one: str, many: str, rows: list[str]) -> None:
    if rows:
        print(one if len(rows) == 1 else many)
        for row in rows:
            print(f"  {row}")
        print()
