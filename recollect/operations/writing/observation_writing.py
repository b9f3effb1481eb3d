"""Observations that the home's language model writes from the facts behind them.

It runs outside the commit: the rules have written every observation already. Each answer is
recorded and becomes a command; the decision on it accepts or refuses the answer as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.writing.writing import LOCK_FILE, open_client, recorder_of
from recollect.projections.memory import observation_queries as queries
from recollect.schemas.events import Draft, ModelConsolidated, RecordingRef
from recollect.schemas.ids import derive_ulid
from recollect.schemas.wire import WriteReport
from recollect.streams.agents.consolidation.consolidator import ModelTask, model_task
from recollect.streams.agents.state import State
from recollect.streams.models.budget_tracker import SpendingLimitExceeded
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient, ModelUnavailable, PromptRejected
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.system.locks import exclusive
from recollect.streams.writing.consolidation_prompt import CONSOLIDATION_ROLE, consolidation_request
from recollect.streams.writing.cost_estimates import estimate_cost
from recollect.streams.writing.recorder import ErasedDuringCall

#: The number of observations that are asked about and decided together.
_BATCH_SIZE = 32


def write_observations(
    zone: OpenZone, *, limit: int | None = None, dry_run: bool = False
) -> WriteReport:
    """Let the home's model write observations that are new or changed since it last wrote.

    `limit`: the maximum number of observations; None: all.

    Raises:
        InvalidInput: the home's writer is `rules`, or no model account is configured.
    """
    home = zone.open_home.home
    home.must_have_model()
    zone.must_exist()
    with ExitStack() as stack:
        client = stack.enter_context(closing(open_client(home.configuration, home.directory)))
        stack.enter_context(exclusive(home.directory / LOCK_FILE, wait=False))
        zone.decide()
        run = _Run(zone, client)
        tasks = run.tasks(limit)
        return run.estimate(tasks) if dry_run else run.write(tasks)


class _Run:
    """One run over a zone's observations."""

    def __init__(self, zone: OpenZone, client: ModelClient) -> None:
        self._zone = zone
        self._client = client
        self._recorder = recorder_of(zone, client)
        self._stopped: str | None = None

    def tasks(self, limit: int | None) -> list[ModelTask]:
        """Return what the model is to write, the oldest change first."""
        with self._zone.files() as files, files.read_transaction():
            state = State(
                files.events.connection, files.memory.connection, files.identity.connection, None, 0
            )
            clusters = queries.clusters_to_write(files.memory.connection, limit)
            tasks = (model_task(cluster, state) for cluster in clusters)
            return [task for task in tasks if task is not None]

    def estimate(self, tasks: Sequence[ModelTask]) -> WriteReport:
        """Estimate the cost of these tasks."""
        requests = [_request(task) for task in tasks]
        unanswered = [request for request in requests if not self._recorder.is_answered(request)]
        cost = estimate_cost(
            unanswered,
            self._client.model,
            self._client.settings,
            calls=1,
        )
        recorded = len(requests) - len(unanswered)
        return self._report(len(tasks), dry_run=True, recorded=recorded, **cost._asdict())

    def write(self, tasks: Sequence[ModelTask]) -> WriteReport:
        """Ask the model about each task, several at once, and decide its answers."""
        spent = self._client.budget.run
        processed = failed = 0
        with self._zone.files() as files:
            before = queries.answers_of_models(files.memory.connection)
        with ThreadPoolExecutor(self._client.settings.concurrency) as pool:
            for start in range(0, len(tasks), _BATCH_SIZE):
                batch = tasks[start : start + _BATCH_SIZE]
                answered = [draft for draft in pool.map(self._ask, batch) if draft is not None]
                if answered:
                    publish_commands(self._zone.node.ledger, self._zone.name, answered)
                    self._zone.decide()
                processed += len(answered)
                failed += len(batch) - len(answered)
                if self._stopped is not None:
                    break
        with self._zone.files() as files:
            after = queries.answers_of_models(files.memory.connection)
        now = self._client.budget.run
        written, refused = (max(0, one - other) for one, other in zip(after, before, strict=True))
        return self._report(
            len(tasks),
            processed=processed,
            failed=failed,
            accepted=written,
            duplicates=max(0, processed - written - refused),
            rejected=refused,
            calls=now.calls - spent.calls,
            tokens=now.tokens - spent.tokens,
            cost=max(now.cost - spent.cost, 0.0),
            stopped=self._stopped,
        )

    def _ask(self, task: ModelTask) -> Draft | None:
        """Return the command with the model's answer, or with the reason why it gave none.

        None if a message was erased meanwhile, or the run stopped.
        """
        if self._stopped is not None:
            return None
        name = f"model_consolidated:{task.cluster_id}"
        answers: tuple[RecordingRef, ...] = ()
        model, error = self._client.model, None
        try:
            recording, ref = self._recorder.ask(_request(task), task.sources, CONSOLIDATION_ROLE)
        except ErasedDuringCall:
            return None
        except PromptRejected as rejected:
            id_, at, error = random_id(name), unix_ms(), rejected.summary
        except (SpendingLimitExceeded, ModelUnavailable) as stopping:
            self._stopped = str(stopping)
            return None
        else:
            id_ = f"{name}:{derive_ulid(0, ref.hash.hex(), str(task.seen))}"
            answers, model = (ref,), recording.header.model
            at = recording.header.asked_at
        answered = ModelConsolidated(
            source_id=id_,
            cluster_id=task.cluster_id,
            facts=tuple(fact.fact_id for fact in task.evidence),
            seen=task.seen,
            answers=answers,
            sources=tuple(sorted(task.sources)),
            model=model,
            role=CONSOLIDATION_ROLE,
            error=error,
        )
        return command(answered, at, ingested_at=at)

    def _report(self, pending: int, **figures: Any) -> WriteReport:
        return WriteReport(self._client.model, CONSOLIDATION_ROLE, pending, **figures)


def _request(task: ModelTask) -> ChatRequest:
    return consolidation_request(task.name, task.label, task.evidence)
