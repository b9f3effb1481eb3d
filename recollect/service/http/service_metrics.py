"""Metrics for Prometheus, in seconds, bytes and counts; never with a zone, a user or a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from recollect.schemas.wire import WriteReport
from recollect.service.work.thread_lanes import ThreadLane

MEDIA_TYPE = CONTENT_TYPE_LATEST
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """What the service counts."""

    def __init__(self, lanes: Sequence[ThreadLane]) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "recollect_requests",
            "Requests by the pattern of their address, method and status",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "recollect_request_seconds",
            "How long requests took",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.open = Gauge(
            "recollect_requests_open", "Requests that are at work", registry=self._registry
        )
        self.events = Counter(
            "recollect_events_received",
            "Events that came in, by what became of them",
            ("result",),
            registry=self._registry,
        )
        self.decided = Counter(
            "recollect_records_decided",
            "Records of all zones that were decided here",
            registry=self._registry,
        )
        self.refused_logins = Counter(
            "recollect_unauthorized",
            "Requests without a token that counts",
            registry=self._registry,
        )
        self._read = Counter(
            "recollect_model_events",
            "Events that a language model read",
            registry=self._registry,
        )
        self._calls = Counter(
            "recollect_model_calls", "Questions to language models", registry=self._registry
        )
        self._tokens = Counter(
            "recollect_model_tokens",
            "Tokens of these questions and of their answers",
            registry=self._registry,
        )
        self._cost = Counter(
            "recollect_model_cost",
            "What they cost, in the currency of the prices",
            registry=self._registry,
        )
        self._unread = Counter(
            "recollect_model_failures",
            "How often an event could not be put before a language model",
            registry=self._registry,
        )
        self._facts = Counter(
            "recollect_model_facts",
            "What language models said, by what became of it",
            ("result",),
            registry=self._registry,
        )
        self._registry.register(_Lanes(lanes))
        ProcessCollector(registry=self._registry)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, method, status).inc()
        self.seconds.labels(route, method).observe(seconds)

    def wrote(self, report: WriteReport) -> None:
        """Count what a language model wrote in the background."""
        self._read.inc(report.processed)
        self._calls.inc(report.calls)
        self._tokens.inc(report.tokens)
        self._cost.inc(report.cost)
        self._unread.inc(report.failed)
        for result in ("accepted", "duplicates", "rejected"):
            self._facts.labels(result).inc(getattr(report, result))

    def text(self) -> bytes:
        """Return all metrics, as Prometheus reads them."""
        return generate_latest(self._registry)


class _Lanes(Collector):
    """Calls that wait for a thread, looked at when somebody asks."""

    def __init__(self, lanes: Sequence[ThreadLane]) -> None:
        self._lanes = lanes

    def collect(self) -> Iterator[GaugeMetricFamily]:
        waiting = GaugeMetricFamily(
            "recollect_calls_waiting", "Calls that wait for a thread", labels=("lane",)
        )
        for lane in self._lanes:
            waiting.add_metric([lane.name], lane.waiting)
        yield waiting
