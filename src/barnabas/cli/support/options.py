"""Command lines read the way Kafka's tools read them.

`--flag value`, `--flag=value`, `-flag value`, repeated options, stray words; an argument is taken even if it
begins with a dash; names are not abbreviated unless a tool allows it. A tool declares its options as rows
(`Option`), and parsing, usage and the hint for a name typed wrong come from these rows.

What a user did wrong is one of two exceptions, both ending in exit code 1 (see `running.py`):
`OptionError` prints a line, `UsageError` prints a line and the usage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from barnabas.cli.support.nearest import nearest
from barnabas.cli.support.usage import columns

KAFKA_VERSION = "4.3.1"  # the release whose tools these are
_INTEGER_MAX = {"Integer": 2**31, "Long": 2**63}


class OptionError(Exception):
    """The line cannot be read; `hint` says what was probably meant."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(Exception):
    """The line can be read but asks for something impossible; the usage follows the message."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class VersionAsked(Exception):  # noqa: N818  # not an error
    """`--version`: print it and leave."""


@dataclass(frozen=True, slots=True)
class Option:
    """One row. Without `value` it is a flag; `value` is what the usage calls the argument, its type being the
    word before the colon ("Integer: count"). `aliases` are names accepted besides."""

    name: str
    description: str
    value: str | None = None
    default: str | None = None
    aliases: tuple[str, ...] = ()
    argument_optional: bool = False
    separator: str | None = None
    hidden: bool = False

    @property
    def kind(self) -> str:
        return "" if self.value is None else self.value.split(":", maxsplit=1)[0].strip()

    def heading(self) -> str:
        """Old spellings are understood, not advertised."""
        if self.value is None:
            return f"--{self.name}"
        return f"--{self.name} [{self.value}]" if self.argument_optional else f"--{self.name} <{self.value}>"

    def text(self) -> str:
        return self.description if self.default is None else f"{self.description} (default: {self.default})"


HELP = Option("help", "Print usage information.")
VERSION = Option("version", "Display Kafka version.")


@dataclass(frozen=True, slots=True)
class Options:
    """What was typed. Ask by an option's main name."""

    table: Parser
    given: dict[str, list[str]]
    stray: list[str]
    order: list[str] = field(default_factory=list)  # every option's name, each time it was typed
    old_names: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return name in self.given

    def values(self, name: str) -> list[str]:
        if not self.given.get(name):
            default = self.table.option(name).default
            return [] if default is None else [default]
        return self.given[name]

    def value(self, name: str) -> str | None:
        found = self.values(name)
        if len(found) > 1:
            raise OptionError(f"Found multiple arguments for option {name}, but you asked for only one")
        return found[0] if found else None

    def text(self, name: str) -> str:
        """The value of an option that is there or has a default."""
        found = self.value(name)
        assert found is not None, f"--{name} has no default and was not required"
        return found

    def integer(self, name: str) -> int | None:
        found = self.value(name)
        if found is None:
            return None
        bound = _INTEGER_MAX.get(self.table.option(name).kind, 2**63)
        try:
            number = int(found)
        except ValueError:
            number = bound
        if not -bound <= number < bound:
            raise OptionError(f"Cannot parse argument '{found}' of option {name}")
        return number

    # --- checks, in Kafka's words ------------------------------------------------------------------------

    def require(self, *names: str) -> None:
        for name in names:
            if not self.has(name):
                raise self.wrong(f'Missing required argument "[{name}]"')

    def forbid(self, used: str, *others: str) -> None:
        for other in others:
            if self.has(used) and self.has(other):
                raise self.wrong(f'Option "[{used}]" can\'t be used with option "[{other}]"')

    def wrong(self, message: str) -> UsageError:
        return UsageError(message, self.table.usage())


class Parser:
    def __init__(
        self,
        summary: str,
        options: Iterable[Option],
        *,
        abbreviations: bool = False,
        gone: dict[str, str] | None = None,
    ) -> None:
        """`gone` maps names that Kafka had once, or never had, to what to do instead."""
        self.summary = summary
        self.options = {option.name: option for option in (*options, HELP, VERSION)}
        self._names = {name: row.name for row in self.options.values() for name in (row.name, *row.aliases)}
        self._abbreviations = abbreviations
        self._gone = gone or {}

    def option(self, name: str) -> Option:
        return self.options[name]

    def parse(self, arguments: Sequence[str], *, empty_is_help: bool = True) -> Options:
        options = self.parse_only(arguments)
        if options.has("help") or (empty_is_help and not arguments):
            raise UsageError(self.summary, self.usage())
        if options.has("version"):
            raise VersionAsked
        return options

    def parse_only(self, arguments: Sequence[str]) -> Options:
        """Without looking at --help and --version, for tools whose order of checks differs."""
        options = Options(self, {}, [])
        rest = list(arguments)
        while rest:
            word = rest.pop(0)
            if word == "--":
                options.stray.extend(rest)
                break
            if word.startswith("-") and word != "-":
                self._take(word, rest, options)
            else:
                options.stray.append(word)
        return options

    def _take(self, word: str, rest: list[str], options: Options) -> None:
        typed, equals, joined = word.lstrip("-").partition("=")
        option = self._find(word, typed)
        if typed != option.name:
            options.old_names.append(typed)
        options.order.append(option.name)
        held = options.given.setdefault(option.name, [])
        if option.value is None:
            return
        if equals:
            argument = joined
        elif option.argument_optional and (not rest or rest[0].startswith("-")):
            return
        elif rest:
            argument = rest.pop(0)
        else:
            raise OptionError(f"Option {option.name} requires an argument")
        held.extend([argument] if option.separator is None else argument.split(option.separator))

    def _find(self, word: str, typed: str) -> Option:
        if typed in self._names:
            return self.options[self._names[typed]]
        if self._abbreviations and word.startswith("--"):
            found = {self._names[name] for name in self._names if name.startswith(typed)}
            if len(found) == 1:
                return self.options[found.pop()]
        # Kafka reads an unknown single-dash word as a row of one-letter flags and complains of the first.
        blamed = typed if word.startswith("--") else typed[:1]
        raise OptionError(f"{blamed} is not a recognized option", self._hint(typed))

    def _hint(self, typed: str) -> str | None:
        if typed in self._gone:
            return self._gone[typed]
        meant = nearest(typed, [*self._names, *self._gone])
        return f"did you mean --{meant}?" if meant else "--help lists the options"

    def usage(self) -> str:
        shown = [option for option in self.options.values() if not option.hidden]
        shown.sort(key=lambda option: option.name)
        return columns((option.heading(), option.text()) for option in shown)
