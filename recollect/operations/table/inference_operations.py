"""The operation of inference: a model answers a question over a very long context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import LONG_TEXT, Tool, operation
from recollect.operations.table.parameters import described
from recollect.schemas.wire import Inference, InferenceEvent, SandboxProvider

_CODE = "print(nexus_search('Ada'))"
_STEP = {"iteration": 1, "code": _CODE, "output": "[…]", "error": None, "tokens": 950}
_LAST = {"iteration": 2, "code": "FINAL('Turin')", "output": "", "error": None, "tokens": 1010}


@operation(
    "POST /infer",
    right="write",
    title="Infer over a long context",
    tag="inference",
    asks_model=True,
    tool=Tool(
        title="Infer over a long context",
        description="Let the home's language model answer a question about a context that is too "
        "long for its prompt: it writes code that searches and reads the context and this memory, "
        "in a sandbox. This takes up to two minutes and costs tokens: try recall first.",
        max_text_length=LONG_TEXT,
        hidden=frozenset({"sandbox_provider", "model"}),
    ),
    example=(
        {"query": "Where does Ada live?", "max_iterations": 5},
        {
            "status": "success",
            "answer": "Turin",
            "total_tokens": 1960,
            "total_duration_seconds": 4.1,
            "iterations": 2,
            "steps": [_STEP, _LAST],
            "sources": ["m1"],
            "error": None,
        },
    ),
)
def infer(
    zone: OpenZone,
    query: Annotated[str, described(minLength=1, description="A question in plain words.")],
    *,
    context: Annotated[
        str, described(description="A text of any length, for the model's code to read.")
    ] = "",
    context_paths: Annotated[
        list[str] | None,
        described(
            description="Ids of memories or messages, or virtual paths, whose texts are added to "
            "the context; a path that ends with a slash adds all memories below it."
        ),
    ] = None,
    model: Annotated[
        str | None, described(description="Model to use, of the home's accounts; by default any.")
    ] = None,
    max_iterations: Annotated[
        int, described(minimum=1, maximum=100, description="Maximum number of rounds of code.")
    ] = 15,
    max_duration_seconds: Annotated[
        float, described(minimum=1, maximum=3600, description="Maximum duration in seconds.")
    ] = 120.0,
    max_total_tokens: Annotated[
        int,
        described(
            minimum=1,
            maximum=100_000_000,
            description="Maximum tokens of all calls, sub-queries included.",
        ),
    ] = 100_000,
    sandbox_provider: Annotated[
        SandboxProvider,
        described(
            description="Where the code runs: in a restricted process (Linux only), or in a Docker "
            "container."
        ),
    ] = "process",
    progress: Callable[[InferenceEvent], None] | None = None,
) -> Inference:
    """Answer a question about a context that is too long for a model's prompt.

    The home's language model writes Python code that reads the context, searches the zone and
    queries the model about parts of both. The code runs in a sandbox that cannot open files, reach
    a network or start processes. Nothing is stored. When a limit is reached, the inference ends
    with a status that names the limit.

    Raises:
        InvalidInput: a value is invalid, no model account is configured, or this machine cannot
            run the sandbox.
        UnknownId: nothing in the zone has an id in `context_paths`.

    >>> zone.infer("Where does Ada live?")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    recollect.schemas.errors.InvalidInput: ...
    """
    from recollect.operations.inference import inferring

    return inferring.infer(
        zone,
        query,
        context=context,
        context_paths=context_paths or (),
        model=model,
        max_iterations=max_iterations,
        max_duration_seconds=max_duration_seconds,
        max_total_tokens=max_total_tokens,
        sandbox_provider=sandbox_provider,
        on_event=progress,
    )


class InferenceOperations:
    """Inference over long contexts."""

    infer = infer
