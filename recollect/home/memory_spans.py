"""OpenTelemetry spans for memory operations, by the semantic conventions for generative AI.

Spans are created only if the program has set a tracer provider; OpenTelemetry is not imported
otherwise. They contain no memories and no questions unless the environment variable
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT asks for content.
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
#: A record's id, its text, and its score if it was searched for.
SpanRecord = tuple[str, str, float | None]

_CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
# The values of this variable that put content into spans.
_SPAN_CONTENT_MODES = ("true", "span_only", "span_and_event")


class MemorySpan:
    """A context manager for one span; it does nothing if the program does not trace."""

    def __init__(self, context: AbstractContextManager[Span] | None) -> None:
        self._context = context
        self._span: Span | None = None

    def __enter__(self) -> Self:
        if self._context is not None:
            span = self._context.__enter__()
            if span.is_recording():
                self._span = span
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._context is None:
            return
        if kind is not None and self._span is not None:
            from opentelemetry.trace import StatusCode

            # The error's message is left out, since it may quote memories or questions.
            self._span.set_attribute("error.type", kind.__qualname__)
            self._span.set_status(StatusCode.ERROR)
        self._context.__exit__(kind, error, trace)

    def set_results(self, query: str, results: Sequence[Result]) -> None:
        """Set the number of results; if content is captured, also the results and the question."""
        self.set_records(
            len(results), lambda: [(result.id, result.text, result.score) for result in results]
        )
        if self._span is not None and _captures_content():
            self._span.set_attribute("gen_ai.memory.query.text", query)

    def set_record_id(self, id: str) -> None:
        """Set the id of the memory that the operation concerns, if it is only one."""
        if self._span is not None:
            self._span.set_attribute("gen_ai.memory.record.id", id)

    def set_records(
        self, count: int, content: Callable[[], Iterable[SpanRecord]] | None = None
    ) -> None:
        """Set the number of memories found or changed; if content is captured, also `content`."""
        if self._span is None:
            return
        self._span.set_attribute("gen_ai.memory.record.count", count)
        if content is not None and _captures_content():
            records = [
                {"id": id, "content": text, **({} if score is None else {"score": score})}
                for id, text, score in content()
            ]
            self._span.set_attribute("gen_ai.memory.records", msgspec.json.encode(records).decode())


_NO_SPAN = MemorySpan(None)


def memory_span(operation: Operation, zone: str) -> MemorySpan:
    """Return a span for an operation on a zone, to be entered."""
    provider = _provider()
    if provider is None:
        return _NO_SPAN
    tracer = provider.get_tracer("recollect", _version())
    attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": zone}
    context = tracer.start_as_current_span(
        operation, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    return MemorySpan(context)


def is_tracing() -> bool:
    """Return whether the program has set a tracer provider."""
    return _provider() is not None


def continue_trace(headers: Mapping[bytes, bytes]) -> AbstractContextManager[Any]:
    """Return a context in which spans belong to the trace in a request's `traceparent`."""
    traceparent = headers.get(b"traceparent")
    if traceparent is None or _provider() is None:
        return nullcontext()
    from opentelemetry.trace import get_current_span, use_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    if get_current_span().get_span_context().is_valid:
        # Instrumentation of the server has already continued the trace.
        return nullcontext()
    carrier = {"traceparent": traceparent.decode("latin-1")}
    return use_span(get_current_span(TraceContextTextMapPropagator().extract(carrier)))


def _provider() -> TracerProvider | None:
    """Return the program's tracer provider; None if it has set none."""
    # A program that has set a provider has imported OpenTelemetry.
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider = trace.get_tracer_provider()
    return None if isinstance(provider, trace.ProxyTracerProvider) else provider


@cache
def _version() -> str:
    return version("recollect")


def _captures_content() -> bool:
    return os.environ.get(_CONTENT_VARIABLE, "").strip().lower() in _SPAN_CONTENT_MODES
