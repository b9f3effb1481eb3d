"""What models are paid: budgets by day and by run, kept before a question leaves."""

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

#: The file in a home.
SPENDING_FILE = "spending.db"
_MIGRATIONS = Migrations(Path(__file__).parent / "migrations")


class BudgetSpent(Unavailable):
    """No more may be spent now; the message says which budget it is."""


class Spent(NamedTuple):
    """What was spent: calls, tokens and cost."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class Spending:
    """What is spent against the budgets of a home, by any number of its processes."""

    def __init__(
        self, path: Path | None, settings: ModelSettings, clock: Callable[[], float] = time.time
    ) -> None:
        """`path` None: in memory. `clock`: seconds since 1970."""
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._run = Spent()
        place = path or Path(":memory:")
        if path is None:
            self._connection = connect(place)
            _MIGRATIONS.bring_up(self._connection, place)
        else:
            with exclusive(path.with_name("spending.lock")):
                self._connection = connect(place)
                _MIGRATIONS.bring_up(self._connection, place)

    @property
    def run(self) -> Spent:
        """What this run has spent."""
        return self._run

    def today(self) -> Spent:
        """What was spent today."""
        with self._lock:
            return self._of(self._day())

    def reserve(self, tokens: int, cost: float) -> str:
        """Count what a question may take as taken; return the day that it counts for.

        A process that dies before `settle` has spent it.

        Raises:
            BudgetSpent: a budget does not reach for it.
        """
        limits = self._settings
        with self._lock, atomic(self._connection):
            day = self._day()
            before = self._of(day)
            for spent, tokens_left, cost_left, which in (
                (before, limits.tokens_per_day, limits.cost_per_day, "day"),
                (self._run, limits.tokens_per_run, limits.cost_per_run, "run"),
            ):
                if tokens_left is not None and spent.tokens + tokens > tokens_left:
                    raise BudgetSpent(
                        f"the budget model.tokens_per_{which} of {tokens_left:,} tokens does not "
                        f"reach for another question ({spent.tokens:,} are used)"
                    )
                if cost_left is not None and spent.cost + cost > cost_left:
                    raise BudgetSpent(
                        f"the budget model.cost_per_{which} of {cost_left:g} does not reach for "
                        f"another question ({spent.cost:.4f} is spent)"
                    )
            self._add(day, Spent(1, tokens, cost))
        return day

    def settle(self, day: str, reserved: Spent, taken: Spent) -> None:
        """Put what a question took in the place of what was reserved for it."""
        with self._lock, atomic(self._connection):
            self._add(
                day,
                Spent(
                    taken.calls - reserved.calls,
                    taken.tokens - reserved.tokens,
                    taken.cost - reserved.cost,
                ),
            )

    def _add(self, day: str, more: Spent) -> None:
        self._connection.execute(
            "INSERT INTO spent VALUES (?1, ?2, ?3, ?4) ON CONFLICT (day) DO UPDATE SET "
            "calls = calls + ?2, tokens = tokens + ?3, cost = max(cost + ?4, 0)",
            (day, *more),
        )
        run = self._run
        self._run = Spent(
            run.calls + more.calls, run.tokens + more.tokens, max(run.cost + more.cost, 0.0)
        )

    def _of(self, day: str) -> Spent:
        found = rows(
            self._connection, "SELECT calls, tokens, cost FROM spent WHERE day = ?", (day,)
        )
        return Spent(*found[0]) if found else Spent()

    def _day(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._clock()))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
