"""The learning loop: run a task, record its trajectory, and learn from how it ended.

The memory is an aid. Whatever fails in it is logged; the task's own result or exception is what the
caller gets.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

from recollect.operations.table.learning.playbook_operations import (
    record_usage,
    relevant_strategies,
)
from recollect.operations.table.learning.trajectory_operations import (
    complete_trajectory,
    learn_from,
    log_step,
    reflect_on,
    start_trajectory,
)
from recollect.operations.table.operation import Caller
from recollect.schemas.events import MemoryScope, MemoryVisibility, StepKind, TrajectoryStatus
from recollect.schemas.wire import RelevantStrategy
from recollect.streams.learning.outcome_comparison import SUCCESS_SCORE

#: Calls a function on a thread.
OnThread = Callable[[Callable[[], None]], Awaitable[None]]

_log = logging.getLogger("recollect.learning")


class _Run:
    """The run of a task: the strategies that fit the task, and the outcome that it reports.

    `trajectory_id` is None if the trajectory could not be recorded; logging then does nothing.
    """

    def __init__(self, zone: Caller) -> None:
        self._zone = zone
        self.trajectory_id: str | None = None
        #: The strategies that fit the task, best first.
        self.strategies: list[RelevantStrategy] = []
        #: The strategies framed as data for a prompt; empty without any.
        self.block = ""
        #: How good the run was, 0 to 1; None: 1 if it returns, 0 if it raises.
        self.score: float | None = None
        #: Numbers to be kept with the trajectory.
        self.metrics: dict[str, float] = {}

    def _log(self, kind: StepKind, content: str, tool: str | None) -> None:
        if self.trajectory_id is not None:
            with tolerated("log a step"):
                self._zone.call(log_step, self.trajectory_id, kind, content, tool=tool)


class LearningRun(_Run):
    """The run of a task."""

    def log(self, kind: StepKind, content: str, *, tool: str | None = None) -> None:
        """Log a step; if the memory fails, that is logged and has no effect."""
        self._log(kind, content, tool)


class AsyncLearningRun(_Run):
    """The run of a task under asyncio."""

    def __init__(self, zone: Caller, on_thread: OnThread) -> None:
        super().__init__(zone)
        self._on_thread = on_thread

    async def log(self, kind: StepKind, content: str, *, tool: str | None = None) -> None:
        """Log a step; if the memory fails, that is logged and has no effect."""
        with tolerated("log a step"):
            await self._on_thread(partial(self._log, kind, content, tool))


class LearningLoop:
    """The memory's part in the run of one task: before it, and after it."""

    def __init__(
        self,
        zone: Caller,
        task: str,
        *,
        task_type: str,
        agent_id: str | None,
        user_id: str | None,
        scope: MemoryScope,
        visibility: MemoryVisibility,
        playbook_id: str | None,
        reflect: bool,
        update_playbook: bool,
    ) -> None:
        self._zone = zone
        self._task = task
        self._task_type = task_type
        self._agent_id = agent_id
        self._user_id = user_id
        self._scope = scope
        self._visibility = visibility
        self._playbook_id = playbook_id
        self._reflect = reflect
        self._update_playbook = update_playbook

    def start(self, run: _Run) -> None:
        """Find the strategies that fit the task, and start its trajectory."""
        with tolerated("find strategies"):
            relevant = self._zone.call(
                relevant_strategies,
                self._task,
                agent_id=self._agent_id,
                user_id=self._user_id,
                playbook_id=self._playbook_id,
            )
            run.strategies, run.block = relevant.strategies, relevant.block
        with tolerated("start the trajectory"):
            run.trajectory_id = self._zone.call(
                start_trajectory,
                self._task,
                task_type=self._task_type,
                agent_id=self._agent_id,
                user_id=self._user_id,
                scope=self._scope,
                visibility=self._visibility,
                playbook_id=self._playbook_id,
            ).id

    def end(self, run: _Run, error: BaseException | None) -> None:
        """Complete the trajectory, count the use of playbooks, and learn."""
        if run.trajectory_id is None:
            return
        score = float(error is None) if run.score is None else run.score
        status: TrajectoryStatus = "failure" if error is not None or score <= 0 else "partial"
        if error is None and score >= 1:
            status = "success"
        with tolerated("complete the trajectory"):
            self._zone.call(
                complete_trajectory,
                run.trajectory_id,
                status,
                success_score=score,
                error_message=None if error is None else f"{type(error).__name__}: {error}"[:1_000],
                metrics=run.metrics,
            )
        with tolerated("record the use of playbooks"):
            for playbook_id in sorted({strategy.playbook_id for strategy in run.strategies}):
                self._zone.call(record_usage, playbook_id, error is None and score >= SUCCESS_SCORE)
        with tolerated("learn"):
            if self._reflect and self._update_playbook:
                self._zone.call(learn_from, run.trajectory_id, playbook_id=self._playbook_id)
            elif self._reflect:
                self._zone.call(reflect_on, run.trajectory_id)


def takes_a_run(task_fn: Callable[..., object]) -> bool:
    """Return whether a task must be called with its run, and not without arguments."""
    try:
        inspect.signature(task_fn).bind()
    except TypeError:
        return True
    except ValueError:
        # A built-in function without a signature.
        return False
    return False


@contextmanager
def tolerated(step: str) -> Iterator[None]:
    """Log an exception of the memory instead of raising it."""
    try:
        yield
    except Exception as error:
        _log.warning("could not %s: %s: %s", step, type(error).__name__, error)
