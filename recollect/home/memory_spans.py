"""Spans of OpenTelemetry for what is done with a memory, by its conventions for generative AI.

There are some only where the program has set a tracer provider; OpenTelemetry is never imported for
them, and a span says nothing of what was remembered or asked, unless the environment asks for that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from recollect.schemas.wire import Result

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

Operation = Literal[
    "create_memory", "search_memory", "update_memory", "upsert_memory", "delete_memory"
]
#: A record's id, what it says, and its score where it was searched for.
Shown = tuple[str, str, float | None]

# OpenTelemetry's own setting for what prompts and answers say; the words that mean spans.
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WITH_CONTENT = ("true", "span_only", "span_and_event")


class MemorySpan:
    """A span while its block runs, or nothing."""

    def __init__(self, begun: AbstractContextManager[Span] | None) -> None:
        self._begun = begun
        self._span: Span | None = None

    def __enter__(self) -> Self:
        if self._begun is not None:
            span = self._begun.__enter__()
            if span.is_recording():
                self._span = span
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._begun is None:
            return
        if kind is not None and self._span is not None:
            from opentelemetry.trace import StatusCode

            # The message may quote what was said or asked.
            self._span.set_attribute("error.type", kind.__qualname__)
            self._span.set_status(StatusCode.ERROR)
        self._begun.__exit__(kind, error, trace)

    def found(self, query: str, results: Sequence[Result]) -> None:
        """Note how much was found; where content is wanted, what, and for which question."""
        self.records(
            len(results), lambda: [(result.id, result.text, result.score) for result in results]
        )
        if self._span is not None and _with_content():
            self._span.set_attribute("gen_ai.memory.query.text", query)

    def record(self, id: str) -> None:
        """Note the id of the one memory that this is about."""
        if self._span is not None:
            self._span.set_attribute("gen_ai.memory.record.id", id)

    def records(self, count: int, shown: Callable[[], Iterable[Shown]] | None = None) -> None:
        """Note how many memories this found or changed, and what they say, where that is wanted."""
        if self._span is None:
            return
        self._span.set_attribute("gen_ai.memory.record.count", count)
        if shown is not None and _with_content():
            records = [
                {"id": id, "content": text, **({} if score is None else {"score": score})}
                for id, text, score in shown()
            ]
            self._span.set_attribute("gen_ai.memory.records", msgspec.json.encode(records).decode())


_NONE = MemorySpan(None)


def memory_span(operation: Operation, zone: str) -> MemorySpan:
    """Return a span for what is done in a zone, to be entered."""
    provider = _provider()
    if provider is None:
        return _NONE
    tracer = provider.get_tracer("recollect", _version())
    attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": zone}
    begun = tracer.start_as_current_span(
        operation, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    return MemorySpan(begun)


def traced() -> bool:
    """Return whether the program traces what it does."""
    return _provider() is not None


def within_trace_of(headers: Mapping[bytes, bytes]) -> AbstractContextManager[Any]:
    """Return a block in which spans belong to the trace that a request names in `traceparent`."""
    said = headers.get(b"traceparent")
    if said is None or _provider() is None:
        return nullcontext()
    from opentelemetry.trace import get_current_span, use_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    if get_current_span().get_span_context().is_valid:
        # What instruments the server has seen to it.
        return nullcontext()
    carrier = {"traceparent": said.decode("latin-1")}
    return use_span(get_current_span(TraceContextTextMapPropagator().extract(carrier)))


def _provider() -> TracerProvider | None:
    """Return what the program traces with, if it does; who does has imported OpenTelemetry."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    return None if isinstance(provider, trace.ProxyTracerProvider) else provider


@cache
def _version() -> str:
    return version("recollect")


def _with_content() -> bool:
    return os.environ.get(_CONTENT, "").strip().lower() in _WITH_CONTENT
