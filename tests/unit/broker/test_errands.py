"""What many want of another broker goes in batches, one at a time, and ends when the broker leaves."""

from __future__ import annotations

from tests.support.nodes import Nodes

from barnabas.broker.cluster.errands import Errands
from barnabas.model.image import BrokerGone
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.schema import Message


class Question:
    """Asks for the coordinator of a group: the key of FindCoordinator is the key of the errand."""

    def __init__(self, key: str, partition_count: int = 1) -> None:
        self.key = key
        self.partition_count = partition_count
        self.outcome = ""

    def failed(self) -> None:
        self.outcome = "failed"


class Desk:
    def __init__(self) -> None:
        self.nodes = Nodes(1, 2)
        self.batches: list[list[str]] = []
        self.errands: Errands[Question] = Errands(self.nodes[1], 4, self._write, self._read)

    def _write(self, questions: list[Question]) -> Message:
        self.batches.append([question.key for question in questions])
        return FindCoordinatorRequest("", 9, self.batches[-1])

    def _read(self, questions: list[Question], answer: Message) -> None:
        assert isinstance(answer, FindCoordinatorResponse)
        for question in questions:
            question.outcome = "answered"

    def add(self, *questions: Question) -> list[Question]:
        for question in questions:
            self.errands.add(2, question)
        return list(questions)


def test_what_comes_while_a_question_is_under_way_goes_with_the_next() -> None:
    desk = Desk()
    questions = desk.add(Question("a"), Question("b"), Question("c"))
    desk.nodes.run(100)
    assert desk.batches == [["a"], ["b", "c"]]
    assert {question.outcome for question in questions} == {"answered"}


def test_two_with_one_key_do_not_go_together() -> None:
    desk = Desk()
    desk.add(Question("a"), Question("b"), Question("b"), Question("c"))
    desk.nodes.run(100)
    assert desk.batches == [["a"], ["b", "c"], ["b"]]


def test_a_question_does_not_grow_without_bounds() -> None:
    desk = Desk()
    desk.add(Question("a"), Question("b", 1_999), Question("c", 5), Question("d"))
    desk.nodes.run(100)
    assert desk.batches == [["a"], ["b", "c"], ["d"]]


def test_a_broker_that_does_not_listen_fails_its_questions() -> None:
    desk = Desk()
    desk.nodes.stop(2)
    questions = desk.add(Question("a"), Question("b"))
    desk.nodes.run(5_000)
    assert [question.outcome for question in questions] == ["failed", "failed"]


def test_a_broker_that_left_is_not_waited_for() -> None:
    desk = Desk()
    desk.nodes.network.cut.add((1, 2))
    questions = desk.add(Question("a"), Question("b"))
    desk.nodes.run(100)
    assert [question.outcome for question in questions] == ["", ""]
    old = desk.nodes.image
    desk.errands.apply(old, old.apply([BrokerGone(2)]))
    assert [question.outcome for question in questions] == ["failed", "failed"]
