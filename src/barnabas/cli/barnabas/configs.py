"""barnabas configs: show and change settings of topics, brokers and groups."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from barnabas.cli.barnabas.common import connect, done, pairs, run, show, verbs
from barnabas.model.config_numbers import Operation, ResourceType, Source
from barnabas.wire.admin import configs
from barnabas.wire.admin.configs import Change, Resource


def main(arguments: Sequence[str]) -> int:
    table = [
        (kind, f"settings of a {kind}", _arguments, _show_or_change) for kind in ("topic", "broker", "group")
    ]
    return run(verbs("configs", "Settings: show them, --set and --unset them.", table), arguments)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="its name; for a broker its id, or 'default' for all brokers")
    parser.add_argument("--all", action="store_true", help="show defaults too")
    parser.add_argument("--explain", action="store_true", help="show what each setting is for")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--unset", action="append", default=[], metavar="NAME")


def _show_or_change(asked: argparse.Namespace) -> int:
    kind = ResourceType[asked.verb.upper()]
    name = "" if kind == ResourceType.BROKER and asked.name == "default" else asked.name
    changes = [Change(key, value) for key, value in pairs(asked.set).items()]
    changes += [Change(key, None, Operation.DELETE) for key in asked.unset]
    with connect(asked) as cluster:
        if changes:
            configs.alter(cluster, Resource(kind, name), changes)
            listed = ", ".join(change.name for change in changes)
            return done(asked, f"Changed {listed} of {asked.verb} {asked.name}.", changed=listed)
        found = configs.describe(cluster, Resource(kind, name), include_documentation=asked.explain)
    rows = [
        (
            row.name,
            "(hidden)" if row.is_sensitive else row.value,
            Source.name_of(row.config_source).lower().replace("_", " ").removesuffix(" config"),
            *([row.documentation] if asked.explain else []),
        )
        for row in sorted(found, key=lambda row: row.name)
        if asked.all or row.config_source != Source.DEFAULT_CONFIG
    ]
    columns = ("setting", "value", "from", *(["what for"] if asked.explain else []))
    show(asked, columns, rows, None if rows else "Everything has its default; --all shows the values.")
    return 0
