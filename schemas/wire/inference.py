"""Inference over large contexts (C18): the result, and the events while it runs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

InferenceStatus = Literal["success", "max_iterations", "max_tokens", "timeout", "failed"]


SandboxProvider = Literal["process", "docker"]


class InferenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """One iteration: the code that the model wrote, and its result."""

    iteration: Annotated[int, Meta(description="Number of the iteration, from 1.")]
    code: Annotated[str, Meta(description="The code that was run; empty if there was none.")]
    output: Annotated[str, Meta(description="What the code printed, truncated.")]
    error: Annotated[str | None, Meta(description="The error that ended the code.")] = None
    tokens: Annotated[int, Meta(description="Tokens of the iteration, sub-queries included.")] = 0


class Inference(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an inference."""

    status: Annotated[
        InferenceStatus,
        Meta(
            description="success, or the limit that ended it, or failed: the model or the sandbox "
            "failed."
        ),
    ]
    answer: Annotated[str, Meta(description="The answer; empty unless the status is success.")]
    total_tokens: Annotated[int, Meta(description="Tokens of all prompts and replies.")]
    total_duration_seconds: Annotated[float, Meta(description="Duration in seconds.")]
    iterations: Annotated[int, Meta(description="Number of iterations.")]
    steps: Annotated[list[InferenceStep], Meta(description="The iterations, in order.")]
    sources: Annotated[
        list[str], Meta(description="Source ids of the events that the code read or found.")
    ]
    error: Annotated[str | None, Meta(description="Why it failed.")] = None


class InferenceEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a running inference."""

    event: Annotated[
        Literal["iteration_start", "code_execution", "iteration_complete", "final_answer"],
        Meta(description="What happened."),
    ]
    iteration: Annotated[int, Meta(description="Number of the iteration, from 1.")]
    step: Annotated[
        InferenceStep | None,
        Meta(description="The iteration so far; with code_execution and iteration_complete."),
    ] = None
    result: Annotated[Inference | None, Meta(description="The result; with final_answer.")] = None
