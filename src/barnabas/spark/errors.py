"""What a pipeline's author did wrong, in one sentence that says what to do."""

from __future__ import annotations


class PipelineError(ValueError):
    """Raised where the pipeline is planned, so that the sentence is seen before any task runs.

    Spark shows a Python worker's error as its formatted traceback, sentence last. What is formatted before a
    traceback is the error's cause, so the sentence is its own cause here and comes first.
    """

    @property
    def __cause__(self) -> BaseException:
        return _HeadlineError(str(self))

    @__cause__.setter
    def __cause__(self, _: BaseException | None) -> None:
        """PySpark takes the causes away where it shortens tracebacks: not this one."""


class _HeadlineError(Exception):
    """Formats as "barnabas: the sentence"."""


_HeadlineError.__module__ = "builtins"  # the one module whose name is not printed
_HeadlineError.__qualname__ = _HeadlineError.__name__ = "barnabas"
