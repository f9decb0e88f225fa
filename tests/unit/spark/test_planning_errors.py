"""A user hears one sentence before any stack trace."""

from __future__ import annotations

import traceback

import pytest

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.spark.errors import PipelineError
from barnabas.spark.planning_errors import plainly
from barnabas.wire import DeadlineError, SettingsError


@plainly
def failing(error: Exception) -> None:
    raise error


def formatted(error: BaseException) -> str:
    """As PySpark's workers do it, also where they shorten the traceback."""
    error.__cause__ = None
    rendered = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    return "".join(rendered.format())


def test_the_sentence_comes_before_the_traceback() -> None:
    with pytest.raises(PipelineError) as caught:
        failing(PipelineError("Say what to read."))
    assert formatted(caught.value).startswith("barnabas: Say what to read.\n")


def test_the_sentence_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PipelineError):
        failing(PipelineError("Say what to read."))
    assert capsys.readouterr().err == "barnabas: Say what to read.\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DeadlineError("Connection to node -1 could not be established."), "kafka.bootstrap.servers"),
        (SettingsError("Invalid url in bootstrap.servers: x"), "Invalid url in bootstrap.servers: x."),
        (ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED), "TOPIC_AUTHORIZATION_FAILED"),
    ],
)
def test_what_the_broker_or_the_network_says_becomes_a_sentence(error: Exception, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        failing(error)


def test_a_fault_of_our_own_stays_what_it_is() -> None:
    with pytest.raises(KeyError):
        failing(KeyError("bug"))
