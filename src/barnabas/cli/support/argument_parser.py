"""Command lines of the tools that Kafka reads with another library: usage, one line of error, exit 1.

Python's argparse speaks almost the same dialect; this changes the words and the exit code to Kafka's.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

_REQUIRED = re.compile(r"the following arguments are required: (.+)")
_ONE_OF = re.compile(r"one of the arguments (.+) is required")
_UNKNOWN = re.compile(r"unrecognized arguments: (\S+)")
_NUMBER = re.compile(r"argument (\S+): invalid (?:_?\w+) value: '(.*)'")
_CHOICE = re.compile(r"argument \w+: (invalid choice: .+)")


class KafkaArgumentParser(argparse.ArgumentParser):
    """`java_types` says what Kafka would have converted an option's text to."""

    java_types: dict[str, str]

    def error(self, message: str) -> NoReturn:
        print(self.format_usage().rstrip(), file=sys.stderr)
        print(f"{self.prog.split()[0]}: error: {self._in_kafkas_words(message)}", file=sys.stderr)
        raise SystemExit(1)

    def _in_kafkas_words(self, message: str) -> str:
        if found := _REQUIRED.match(message):
            missing = found[1].split(", ")
            no_command = missing[-1].lower() == "command"
            return "too few arguments" if no_command else f"argument {missing[0]} is required"
        if found := _ONE_OF.match(message):
            return f"one of the arguments {found[1]} is required"
        if found := _UNKNOWN.match(message):
            return f"unrecognized arguments: '{found[1]}'"
        if found := _NUMBER.match(message):
            kind = getattr(self, "java_types", {}).get(found[1], "Integer")
            why = f'(For input string: "{found[2]}")'
            return f"argument {found[1]}: could not convert '{found[2]}' to {kind} {why}"
        if found := _CHOICE.match(message):
            return found[1]
        return message
