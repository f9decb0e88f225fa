"""Settings from a file and from `key=value` words."""

from __future__ import annotations

from pathlib import Path

from barnabas.cli.support.options import OptionError, Options
from barnabas.model import properties as java_properties


def load_properties(path: str | Path) -> dict[str, str]:
    return java_properties.load(Path(path).read_bytes())


def parse_pairs(pairs: list[str]) -> dict[str, str]:
    """`key=value` words of a command line; a missing value is the empty one."""
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def properties_of(options: Options, file_option: str, pairs_option: str) -> dict[str, str]:
    """A properties file, and what the command line says over it."""
    path = options.value(file_option)
    return properties_file(path) | parse_pairs(options.values(pairs_option))


def properties_file(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        return load_properties(path)
    except FileNotFoundError:
        raise OptionError(f"java.nio.file.NoSuchFileException: {path}") from None
    except java_properties.PropertiesError as error:
        raise OptionError(f"java.lang.IllegalArgumentException: {error}") from None
