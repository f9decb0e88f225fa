"""Record Kafka's answers anew: `python -m tests.support.answers [scenario ...]`. Needs Java."""

from __future__ import annotations

import sys

from bench.apache_kafka import ApacheKafka
from tests.support.answers import golden, scenario


def main(wanted: list[str]) -> None:
    names = [name for name in scenario.load() if not wanted or name in wanted]
    for kind, settings in scenario.SETTINGS.items():
        with ApacheKafka(settings, heap_options=("-Xmx512m", "-XX:+UseSerialGC")) as kafka:
            for name in names:
                if scenario.settings_of(name) == kind:
                    golden.write(name, scenario.run(name, kafka.port))
                    print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
