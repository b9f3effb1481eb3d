"""Prometheus metrics in seconds, bytes and counts, without zones, users or queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from recollect.schemas.wire import WriteReport
from recollect.service.work.thread_lanes import ThreadLane

MEDIA_TYPE = CONTENT_TYPE_LATEST.partition("; charset=")[0]
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """The metrics of a service."""

    def __init__(self, lanes: Sequence[ThreadLane]) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "recollect_requests",
            "Requests by route, method and status",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "recollect_request_seconds",
            "Duration of requests",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.open = Gauge("recollect_requests_open", "Running requests", registry=self._registry)
        self.events = Counter(
            "recollect_events_received",
            "Received events, by result",
            ("result",),
            registry=self._registry,
        )
        self.decided = Counter(
            "recollect_records_decided",
            "Records decided by this process, in all zones",
            registry=self._registry,
        )
        self.invalid_tokens = Counter(
            "recollect_unauthorized",
            "Requests with an invalid token",
            registry=self._registry,
        )
        self._model_events = Counter(
            "recollect_model_events",
            "Events processed by a language model",
            registry=self._registry,
        )
        self._calls = Counter(
            "recollect_model_calls", "Calls of language models", registry=self._registry
        )
        self._tokens = Counter(
            "recollect_model_tokens",
            "Input and output tokens of these calls",
            registry=self._registry,
        )
        self._cost = Counter(
            "recollect_model_cost",
            "Cost of these calls, in the currency of the configured prices",
            registry=self._registry,
        )
        self._model_failures = Counter(
            "recollect_model_failures",
            "Failed attempts to process an event with a language model",
            registry=self._registry,
        )
        self._facts = Counter(
            "recollect_model_facts",
            "Facts proposed by language models, by result",
            ("result",),
            registry=self._registry,
        )
        self._registry.register(_Lanes(lanes))
        ProcessCollector(registry=self._registry)

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, method, status).inc()
        self.seconds.labels(route, method).observe(seconds)

    def count_writing(self, report: WriteReport) -> None:
        """Count the calls and facts of the background model writer."""
        self._model_events.inc(report.processed)
        self._calls.inc(report.calls)
        self._tokens.inc(report.tokens)
        self._cost.inc(report.cost)
        self._model_failures.inc(report.failed)
        for result in ("accepted", "duplicates", "rejected"):
            self._facts.labels(result).inc(getattr(report, result))

    def text(self) -> bytes:
        """Return all metrics in the Prometheus text format."""
        return generate_latest(self._registry)


class _Lanes(Collector):
    """The number of waiting calls by lane (a thread pool with a queue), collected on demand."""

    def __init__(self, lanes: Sequence[ThreadLane]) -> None:
        self._lanes = lanes

    def collect(self) -> Iterator[GaugeMetricFamily]:
        waiting = GaugeMetricFamily(
            "recollect_calls_waiting", "Calls waiting for a thread", labels=("lane",)
        )
        for lane in self._lanes:
            waiting.add_metric([lane.name], lane.waiting)
        yield waiting
