"""A member in a process of its own, so that it can be killed: `python -m tests.support.members.process`.

Java needs none: its consumer can end without a word to the group.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.support.members.aiokafka_member import AiokafkaMember
from tests.support.members.confluent_member import ConfluentMember
from tests.support.members.face import Joining, Place
from tests.support.members.kafka_python_member import KafkaPythonMember
from tests.support.members.polled import PolledMember

KINDS: dict[str, type[PolledMember]] = {
    "confluent-kafka": ConfluentMember,
    "kafka-python": KafkaPythonMember,
    "aiokafka": AiokafkaMember,
}
_CHECKOUT = Path(__file__).resolve().parents[3]


class MemberProcess:
    """Tells its assignment on standard output, line by line, until it is killed."""

    def __init__(self, library: str, bootstrap: str, joining: Joining) -> None:
        told = json.dumps(dataclasses.asdict(joining))
        command = [sys.executable, "-m", "tests.support.members.process", library, bootstrap, told]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_CHECKOUT)
        self._assignment: frozenset[Place] = frozenset()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._assignment = frozenset((topic, partition) for topic, partition in json.loads(line))

    def assignment(self) -> frozenset[Place]:
        return self._assignment

    def vanish(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    close = vanish


def main(library: str, bootstrap: str, told: str) -> None:
    fields = json.loads(told)
    member = KINDS[library](bootstrap, Joining(**{**fields, "topics": tuple(fields["topics"])}))
    shown: frozenset[Place] | None = None
    while member.error() is None:
        if (now := member.assignment()) != shown:
            print(json.dumps(sorted(now)), flush=True)
            shown = now
        time.sleep(0.02)
    sys.exit(f"refused with {member.error()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
