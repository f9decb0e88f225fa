"""The options of `format("barnabas")`: names and meanings of Spark's own Kafka connector.

Spark lower-cases option names on their way to Python, so they are looked up without regard to case.
"""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.spark.errors import PipelineError
from barnabas.wire import Cluster

KAFKA_PREFIX = "kafka."
BOOTSTRAP = "bootstrap.servers"
CLIENT_DEFAULTS = {"client.id": "barnabas-spark"}


class Options:
    """The options of one reader or writer. Pickles: tasks get a copy."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = {name.lower(): str(value) for name, value in given.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def text(self, name: str) -> str | None:
        return self._values.get(name.lower())

    def names(self) -> list[str]:
        """Lower case, sorted."""
        return sorted(self._values)

    def integer(self, name: str, lowest: int = 0) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            value = int(text)
        except ValueError:
            value = lowest - 1
        if value < lowest:
            raise PipelineError(f"Option {name} must be a whole number of at least {lowest}, not {text!r}.")
        return value

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in ("true", "false"):
            raise PipelineError(f"Option {name} must be true or false, not {text!r}.")
        return text.lower() == "true"

    @property
    def bootstrap(self) -> str:
        text = self.text(KAFKA_PREFIX + BOOTSTRAP)
        if not text:
            raise PipelineError(
                "Option 'kafka.bootstrap.servers' must be set to where the brokers are, "
                "for example .option('kafka.bootstrap.servers', 'localhost:9092')."
            )
        return text

    @property
    def kafka(self) -> dict[str, str]:
        """The client settings, without their prefix."""
        return {
            name.removeprefix(KAFKA_PREFIX): value
            for name, value in self._values.items()
            if name.startswith(KAFKA_PREFIX)
        }

    def connect(
        self, defaults: Mapping[str, str] | None = None, overrides: Mapping[str, str] | None = None
    ) -> Cluster:
        """Nothing is dialled before the first call. The user's settings go before `defaults` and behind
        `overrides`."""
        settings = {**CLIENT_DEFAULTS, **(defaults or {}), **self.kafka, **(overrides or {})}
        return Cluster.connect(self.bootstrap, settings)
