"""Token and cost budgets per day and per run; each request reserves its share before it is sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from recollect.projections.migrations import Migrations
from recollect.projections.sqlite import atomic, connect, rows
from recollect.schemas.errors import Unavailable
from recollect.streams.models.model_settings import ModelSettings
from recollect.streams.system.locks import exclusive

#: The name of the database in a home's directory.
SPENDING_FILE = "spending.db"
_MIGRATIONS = Migrations(Path(__file__).parent / "migrations")


class SpendingLimitExceeded(Unavailable):
    """A spending limit is reached; the message names it."""


class Usage(NamedTuple):
    """Calls, tokens and cost."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class BudgetTracker:
    """The usage of a home against its budgets; all its processes share the usage per day."""

    def __init__(
        self, path: Path | None, settings: ModelSettings, clock: Callable[[], float] = time.time
    ) -> None:
        """`path`: the database; None: in memory. `clock` returns seconds since 1970."""
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._run = Usage()
        location = path or Path(":memory:")
        if path is None:
            self._connection = connect(location)
            _MIGRATIONS.migrate(self._connection, location)
        else:
            with exclusive(path.with_name("spending.lock")):
                self._connection = connect(location)
                _MIGRATIONS.migrate(self._connection, location)

    @property
    def run(self) -> Usage:
        """The usage of this run."""
        return self._run

    def today(self) -> Usage:
        """The usage of today (UTC)."""
        with self._lock:
            return self._usage_on(self._today())

    def reserve(self, tokens: int, cost: float) -> str:
        """Reserve budget for a request; return the day to which it is charged.

        If the process dies before `settle`, the reservation stays charged.

        Raises:
            SpendingLimitExceeded: a limit is reached.
        """
        limits = self._settings
        with self._lock, atomic(self._connection):
            day = self._today()
            spent_today = self._usage_on(day)
            for spent, max_tokens, max_cost, period in (
                (spent_today, limits.tokens_per_day, limits.cost_per_day, "day"),
                (self._run, limits.tokens_per_run, limits.cost_per_run, "run"),
            ):
                if max_tokens is not None and spent.tokens + tokens > max_tokens:
                    raise SpendingLimitExceeded(
                        f"the limit model.tokens_per_{period} of {max_tokens:,} tokens is "
                        f"reached: {spent.tokens:,} are used; raise it or wait"
                    )
                if max_cost is not None and spent.cost + cost > max_cost:
                    raise SpendingLimitExceeded(
                        f"the limit model.cost_per_{period} of {max_cost:g} is reached: "
                        f"{spent.cost:.4f} is spent; raise it or wait"
                    )
            self._add(day, Usage(1, tokens, cost))
        return day

    def settle(self, day: str, reserved: Usage, actual: Usage) -> None:
        """Replace a reservation by the actual usage."""
        with self._lock, atomic(self._connection):
            self._add(
                day,
                Usage(
                    actual.calls - reserved.calls,
                    actual.tokens - reserved.tokens,
                    actual.cost - reserved.cost,
                ),
            )

    def _add(self, day: str, more: Usage) -> None:
        self._connection.execute(
            "INSERT INTO spent VALUES (?1, ?2, ?3, ?4) ON CONFLICT (day) DO UPDATE SET "
            "calls = calls + ?2, tokens = tokens + ?3, cost = max(cost + ?4, 0)",
            (day, *more),
        )
        run = self._run
        self._run = Usage(
            run.calls + more.calls, run.tokens + more.tokens, max(run.cost + more.cost, 0.0)
        )

    def _usage_on(self, day: str) -> Usage:
        found = rows(
            self._connection, "SELECT calls, tokens, cost FROM spent WHERE day = ?", (day,)
        )
        return Usage(*found[0]) if found else Usage()

    def _today(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._clock()))

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._connection.close()
