"""A thread that decides published events, so that a service is the worker of its home."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager

from recollect.operations.processes.embedded_worker import EmbeddedWorker
from recollect.schemas.events import OwnAnalysis
from recollect.schemas.memory_terms import TierLimits
from recollect.streams.engine.node import Node
from recollect.streams.projecting.projector import OnZoneProgress


class DecidingThread(AbstractContextManager["DecidingThread"]):
    """A context in which a thread decides all zones of a node, and reports progress and errors."""

    def __init__(
        self,
        node: Node,
        report: OnZoneProgress,
        *,
        ticks: bool,
        profile_facts: int,
        passes_hour: int,
        tier_limits: TierLimits,
        analyses: Sequence[OwnAnalysis] | None,
    ) -> None:
        """The settings are as in `EmbeddedWorker`."""
        self._worker = EmbeddedWorker(
            node,
            report,
            ticks=ticks,
            profile_facts=profile_facts,
            passes_hour=passes_hour,
            tier_limits=tier_limits,
            analyses=analyses,
        )
        self._thread = threading.Thread(target=self._worker.work, name="service-decide")

    def __enter__(self) -> DecidingThread:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._worker.end()
        self._thread.join()
