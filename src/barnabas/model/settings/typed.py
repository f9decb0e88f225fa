"""A frozen bag of parsed values, read by Kafka's names with the type the caller expects.

Asking for a name that does not exist, or as the wrong type, is a bug of ours and fails loudly.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.settings.values import Password, Value


class TypedValues:
    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def integer(self, name: str) -> int:
        value = self._values[name]
        assert type(value) is int, f"{name} is no whole number: {value!r}"
        return value

    def optional_integer(self, name: str) -> int | None:
        return None if self._values[name] is None else self.integer(name)

    def real(self, name: str) -> float:
        value = self._values[name]
        assert isinstance(value, float), f"{name} is no real number: {value!r}"
        return value

    def boolean(self, name: str) -> bool:
        value = self._values[name]
        assert isinstance(value, bool), f"{name} is neither true nor false: {value!r}"
        return value

    def text(self, name: str) -> str:
        value = self._values[name]
        assert isinstance(value, str), f"{name} is no text: {value!r}"
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self._values[name] is None else self.text(name)

    def names(self, name: str) -> tuple[str, ...]:
        """A list setting; one that is not set is empty."""
        value = self._values[name]
        assert value is None or isinstance(value, tuple), f"{name} is no list: {value!r}"
        return value or ()

    def password(self, name: str) -> Password | None:
        value = self._values[name]
        assert value is None or isinstance(value, Password), f"{name} is no password"
        return value
