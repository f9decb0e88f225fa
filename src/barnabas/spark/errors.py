"""What a pipeline's author did wrong, in one sentence that says what to do."""

from __future__ import annotations


class PipelineError(ValueError):
    """Raised where the pipeline is planned, so that the sentence is seen before any task runs."""
