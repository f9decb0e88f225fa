"""kafka-consumer-groups: list, describe, reset and delete consumer groups, with the lines of Kafka 4.3's
ConsumerGroupCommand.

As with Kafka, a failure of the action is printed on standard output and the tool leaves with 0; only mistakes
in the command line leave with 1. Instead of a stack trace there is its first line.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.parts import consumer_groups_options, consumer_groups_tables
from barnabas.cli.parts.consumer_groups_actions import RUNTIME, Service
from barnabas.cli.parts.consumer_groups_resetting import Resetter
from barnabas.cli.support.connecting import connect
from barnabas.cli.support.failures import NO_CLIENT, ToolError
from barnabas.cli.support.options import OptionError, Options
from barnabas.cli.support.running import run
from barnabas.wire import SettingsError

_USER_ERROR = "java.lang.IllegalArgumentException"


def main(arguments: Sequence[str] | None = None) -> int:
    return run(consumer_groups_tool, arguments)


def consumer_groups_tool(arguments: Sequence[str]) -> int:
    options = consumer_groups_options.parse(arguments)
    if options.has("validate-regex"):
        from barnabas.cli.parts.re2_syntax import verdict

        print(verdict(options.text("validate-regex")))
        return 0
    try:
        _act(options)
    except ToolError as error:
        if error.java_name == _USER_ERROR:
            raise options.wrong(str(error)) from None
        _report(str(error), error.java_name)
    except SettingsError as error:
        _report(NO_CLIENT, "org.apache.kafka.common.KafkaException", str(error))
    except OptionError as error:
        _report(str(error), "joptsimple.OptionArgumentConversionException")
    return 0


def _report(problem: str, java_name: str, cause: str = "") -> None:
    print(f"\nError: Executing consumer group command failed due to {problem}", flush=True)
    print(f"{java_name}: {problem}", file=sys.stderr)
    if cause:
        print(f"Caused by: {cause}", file=sys.stderr)


def _act(options: Options) -> None:
    timeout_ms = options.integer("timeout")
    settings = options.value("command-config")
    if settings is not None and not Path(settings).exists():
        raise ToolError(f"java.nio.file.NoSuchFileException: {settings}", RUNTIME)
    overrides = {"default.api.timeout.ms": str(timeout_ms), "request.timeout.ms": str(timeout_ms)}
    with connect(options, overrides=overrides) as cluster:
        service = Service(cluster, options)
        if options.has("list"):
            service.list_groups()
        elif options.has("describe"):
            service.describe()
        elif options.has("delete"):
            service.delete()
        elif options.has("delete-offsets"):
            service.delete_offsets()
        else:
            _reset(Resetter(cluster, options, service), options)


def _reset(resetter: Resetter, options: Options) -> None:
    plans = resetter.reset()
    if options.has("export"):
        with_group = len(options.values("group")) != 1
        for line in consumer_groups_tables.csv_lines(plans, with_group):
            print(line)
        print()
        return
    for line in consumer_groups_tables.reset_lines(plans):
        print(line)
