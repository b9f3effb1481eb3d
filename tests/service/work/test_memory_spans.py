"""OpenTelemetry's spans for what is done with a memory: there for who traces, and without content.

What is expected is written down here by its conventions for memory; the exporter is its own SDK's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tests.service.kit import Served

ROOT = Path(__file__).resolve().parents[3]
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SAID = "The secretword is under the mat."


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What was traced while a test runs; a provider can be set only once in a process."""
    monkeypatch.delenv(CAPTURE, raising=False)
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield spans
    provider.shutdown()


def of_us(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    """Return our spans; the SDK of MCP has its own."""
    return [
        span
        for span in exporter.get_finished_spans()
        if span.instrumentation_scope is not None and span.instrumentation_scope.name == "recollect"
    ]


def told(span: ReadableSpan) -> dict[str, Any]:
    """Return a span's attributes."""
    return dict(span.attributes or {})


def event(id_: str, content: str) -> dict[str, Any]:
    return {
        "id": id_,
        "platform": "chat",
        "sender_id": "u1",
        "sender_name": "Ada",
        "occurred_at": "2026-05-08T13:56:00Z",
        "content": content,
    }


def test_every_memory_operation_has_a_span_with_its_zone_and_nothing_that_was_said(
    service: Served, exporter: InMemorySpanExporter
) -> None:
    with service.client("spans") as client:
        at = "/v1/zones/spans"
        events = {"events": [event("s1", SAID), event("s2", "I live in Turin.")]}
        client.post(f"{at}/events?wait=true", json=events).raise_for_status()
        made = client.post(f"{at}/memories", json={"content": SAID}).json()["event_id"]
        found = client.post(f"{at}/memories/recall", json={"query": "Where is the secretword?"})
        client.post(f"{at}/context", json={"task": "Find the secretword"}).raise_for_status()
        client.post(f"{at}/reflect", json={"query": "secretword"}).raise_for_status()
        updated = client.patch(f"{at}/memories/{made}", json={"text": "secretword two"}).json()
        client.post(f"{at}/forget", json={"ids": ["s1"], "dry_run": True}).raise_for_status()
        client.post(f"{at}/forget", json={"ids": ["s1"]}).raise_for_status()
        client.delete(f"{at}/memories/{updated['id']}").raise_for_status()
    spans = of_us(exporter)
    assert [span.name for span in spans] == [
        *("upsert_memory", "create_memory", "search_memory", "search_memory", "search_memory"),
        *("update_memory", "delete_memory", "delete_memory"),
    ]
    for span in spans:
        attributes = told(span)
        assert attributes.pop("gen_ai.operation.name") == span.name
        assert attributes.pop("gen_ai.memory.store.id") == "spans"
        assert attributes.pop("gen_ai.memory.record.count") >= (span.name != "search_memory")
        assert set(attributes) <= {"gen_ai.memory.record.id"}
        assert "secretword" not in span.to_json()
    assert told(spans[0])["gen_ai.memory.record.count"] == 2
    assert told(spans[1])["gen_ai.memory.record.id"] == made
    assert told(spans[2])["gen_ai.memory.record.count"] == len(found.json()["results"])
    assert told(spans[5])["gen_ai.memory.record.id"] == made


def test_what_was_said_and_asked_is_told_where_the_environment_asks_for_it(
    service: Served, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPTURE, "SPAN_ONLY")
    with service.client("content") as client:
        at = "/v1/zones/content"
        client.post(f"{at}/events?wait=true", json=event("c1", SAID)).raise_for_status()
        found = client.post(f"{at}/memories/recall", json={"query": "Where is the secretword?"})
    put_in, searched = map(told, of_us(exporter))
    (kept,) = json.loads(put_in["gen_ai.memory.records"])
    assert kept["content"] == SAID
    assert kept["id"]
    assert searched["gen_ai.memory.query.text"] == "Where is the secretword?"
    assert json.loads(searched["gen_ai.memory.records"]) == [
        {"id": result["id"], "content": result["text"], "score": result["score"]}
        for result in found.json()["results"]
    ]


def test_a_failure_is_told_by_its_type_and_without_its_message(
    service: Served, exporter: InMemorySpanExporter
) -> None:
    with service.client("fails") as client:
        client.post("/v1/zones/fails/events", json=event("f1", SAID)).raise_for_status()
        exporter.clear()
        query = {"query": "Where?", "scope": ["secretword"]}
        assert client.post("/v1/zones/fails/memories/recall", json=query).status_code == 422
        assert client.delete("/v1/zones/fails/memories/secretword").status_code >= 400
    spans = of_us(exporter)
    assert spans
    for span in spans:
        assert span.status.status_code is StatusCode.ERROR
        assert told(span)["error.type"] == "UnknownId"
        assert not span.events
        assert "secretword" not in span.to_json()


def test_a_span_belongs_to_the_trace_that_the_request_names(
    service: Served, exporter: InMemorySpanExporter
) -> None:
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with service.client("traced") as client:
        for said in (f"00-{trace_id}-{parent}-01", "nonsense"):
            headers = {"traceparent": said}
            client.post("/v1/zones/traced/events", json=event(said, "Hello"), headers=headers)
    named, other = of_us(exporter)
    assert named.context is not None
    assert named.parent is not None
    assert f"{named.context.trace_id:032x}" == trace_id
    assert f"{named.parent.span_id:016x}" == parent
    assert other.context is not None
    assert other.context.trace_id != named.context.trace_id


def test_who_does_not_trace_loads_nothing_and_who_set_no_provider_gets_no_span(
    tmp_path: Path,
) -> None:
    program = """
import sys
from recollect import Recollect
with Recollect(sys.argv[1], encoder="none") as opened:
    zone = opened.zone("a")
    zone.remember("The key is in the safe.")
    zone.recall("Where is the key?")
    print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
    from opentelemetry import trace
    zone.recall("Where is the key?")
    print(isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "home")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
