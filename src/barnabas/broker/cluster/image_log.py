"""What the controller remembers of its latest decisions, for brokers that pull them, and those that wait.

A broker that has been away for longer than that gets the whole image. Everything is encoded once, however
many brokers ask for it.

A new controller was a broker like the others, and most of them have the image that it had: they hear what is
different in its first one. An image is the only one of its epoch and version, whoever has it: one controller
made it, and numbers go up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, cast

from barnabas.broker.timers import Timer
from barnabas.controller import differences, steps
from barnabas.model.image import ClusterImage, Delta
from barnabas.protocol import codec
from barnabas.protocol.private import VERSION, PullImageResponse, StepRow

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_STEPS_MAX = 512
# In all: an election of thousands of partitions, or a topic of as many, is not worth more than a whole image.
_STEPS_BYTES_MAX = 4 << 20


_NOBODYS = (-1, -1)  # epoch and version


class _Step(NamedTuple):
    version: int
    encoded: bytes


def _encoded(row: StepRow) -> bytes:
    return codec.encode(row, VERSION)


class _Pull:
    __slots__ = ("answer", "epoch", "timer", "version")

    def __init__(self, epoch: int, version: int, answer: Callable[[PullImageResponse], None]) -> None:
        self.epoch = epoch
        self.version = version
        self.answer = answer
        self.timer: Timer | None = None


class ImageLog:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._steps: deque[_Step] = deque()
        self._bytes = 0
        self._waiting: list[_Pull] = []
        self._former = _NOBODYS  # the image that the first step leads on from
        self._whole: tuple[ClusterImage, bytes] | None = None

    def begin(self, former: ClusterImage) -> None:
        """A term begins, with an image that comes after the former one: what led to that is not ours to tell
        in steps, what leads on from it is."""
        self._steps.clear()
        self._bytes = 0
        self._whole = None
        self._former = _NOBODYS
        image = self._node.image
        changes = None
        if former.controller_epoch > 0 and image.version == former.version + 1:
            changes = differences.between(former, image)
        if changes is None:
            self._answer_all()
        else:
            self._former = (former.controller_epoch, former.version)
            self.add(image.version, changes)

    def add(self, version: int, deltas: tuple[Delta, ...]) -> None:
        """The image has just become this version."""
        step = _Step(version, _encoded(steps.step(version, deltas)))
        self._steps.append(step)
        self._bytes += len(step.encoded)
        while len(self._steps) > _STEPS_MAX or (self._bytes > _STEPS_BYTES_MAX and len(self._steps) > 1):
            self._bytes -= len(self._steps.popleft().encoded)
        self._answer_all()

    def pull(
        self, epoch: int, version: int, max_wait_ms: int, answer: Callable[[PullImageResponse], None]
    ) -> None:
        image = self._node.image
        if (epoch, version) != (image.controller_epoch, image.version) or max_wait_ms <= 0:
            answer(self._since(epoch, version))
            return
        pull = _Pull(epoch, version, answer)

        def enough() -> None:
            self._waiting.remove(pull)
            answer(self._since(epoch, version))

        pull.timer = self._node.timers.at(self._node.now_ms + max_wait_ms, enough)
        self._waiting.append(pull)

    def _answer_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        for pull in waiting:
            if pull.timer is not None:
                self._node.timers.cancel(pull.timer)
            pull.answer(self._since(pull.epoch, pull.version))

    def _since(self, epoch: int, version: int) -> PullImageResponse:
        image = self._node.image
        response = PullImageResponse(0, image.controller_epoch, image.cluster_id)
        if epoch == image.controller_epoch and version == image.version:
            return response
        news = [step for step in self._steps if step.version > version]
        is_ours = epoch == image.controller_epoch or (epoch, version) == self._former
        if is_ours and news and news[0].version == version + 1:
            response.steps = _passing(step.encoded for step in news)
        else:
            response.from_nothing = True
            response.steps = _passing([self._whole_image(image)])
        return response

    def _whole_image(self, image: ClusterImage) -> bytes:
        if self._whole is None or self._whole[0] is not image:
            self._whole = (image, _encoded(steps.whole(image)))
        return self._whole[1]


def _passing(encoded: Iterable[bytes]) -> list[StepRow]:
    """The encoder lets encoded elements pass."""
    return [cast(StepRow, one) for one in encoded]
