"""Analyses of episodes that the home's language model runs.

It runs outside the commit. Each answer is recorded and becomes a command; the decision on it checks
every statement against the messages that it cites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import NamedTuple

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.home.ticks.due_analyses import (
    AUTOMATIC_DEFINITION,
    defined_analyses,
    due_commands,
    has_analyst,
)
from recollect.operations.writing.writing import open_client, recorder_of
from recollect.schemas.events import Analyse, Draft, OwnAnalysis
from recollect.schemas.ids import derive_ulid
from recollect.streams.agents.episodes.episode_analyst import utterances_of
from recollect.streams.analyses.utterances import Utterance
from recollect.streams.deciding.decider import LedgerConversation
from recollect.streams.models.budget_tracker import SpendingLimitExceeded
from recollect.streams.models.model_client import ModelClient, ModelUnavailable, PromptRejected
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.writing.analysis_prompt import ANALYSIS_ROLE, analysis_requests
from recollect.streams.writing.cost_estimates import estimate_cost
from recollect.streams.writing.recorder import ErasedDuringCall

#: The number of analyses that are asked about and decided together.
_BATCH_SIZE = 32
#: Episodes that are analysed in the background at a time.
_MAX_IN_BACKGROUND = 100
#: Larger than every event number.
_AFTER_ALL = 2**62


class ModelUse(NamedTuple):
    """What a run used of a model, or would at most; `stopped`: why not all was asked about."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    stopped: str | None = None


class _Task(NamedTuple):
    """One analysis of an episode, and the messages that the model is shown."""

    command: Analyse
    own: OwnAnalysis
    utterances: Sequence[Utterance]


def analyse_by_model(zone: OpenZone, due: Sequence[Draft]) -> ModelUse:
    """Let the home's model run the analyses of these commands, and decide its answers."""
    home = zone.open_home.home
    with closing(open_client(home.configuration, home.directory)) as client:
        return _Run(zone, client).ask_all(due)


def estimate_by_model(zone: OpenZone, due: Sequence[Draft]) -> ModelUse:
    """Estimate what the analyses of these commands would use at most."""
    home = zone.open_home.home
    with closing(open_client(home.configuration, home.directory)) as client:
        return _Run(zone, client).estimate(due)


def analyse_if_due(zone: OpenZone, client: ModelClient, while_: Callable[[], bool]) -> ModelUse:
    """Let a model analyse the episodes that have ended, if the settings ask for analyses.

    `while_`: called before each analysis; once it returns False, nothing more is asked.
    """
    home = zone.open_home.home
    if not home.configuration.analyses or not has_analyst(zone.node):
        return ModelUse()
    own = [each for each in defined_analyses(home) if each.prompt is not None]
    with zone.files() as files:
        due = due_commands(
            files.memory.connection,
            own,
            [each.id for each in own],
            at=unix_ms(),
            definition=AUTOMATIC_DEFINITION,
            # The same question would fail again; a blocked analysis was never asked about.
            without_failed=True,
            limit=_MAX_IN_BACKGROUND,
        )
    return _Run(zone, client, while_).ask_all(due) if due else ModelUse()


class _Run:
    """One run over the analyses that are due in a zone."""

    def __init__(
        self, zone: OpenZone, client: ModelClient, while_: Callable[[], bool] = lambda: True
    ) -> None:
        self._zone = zone
        self._client = client
        self._while = while_
        self._recorder = recorder_of(zone, client)
        self._stopped: str | None = None

    def estimate(self, due: Sequence[Draft]) -> ModelUse:
        """Estimate what these analyses would use at most."""
        requests = (
            request
            for batch in self._batches(due)
            for task in batch
            for request in analysis_requests(task.own, task.utterances)
            if not self._recorder.is_answered(request)
        )
        found = estimate_cost(
            requests,
            self._client.model,
            self._client.settings,
            calls=1,
        )
        return ModelUse(found.calls, found.tokens, found.cost)

    def ask_all(self, due: Sequence[Draft]) -> ModelUse:
        """Ask about each analysis, several at once, and decide the answers."""
        spent = self._client.budget.run
        with ThreadPoolExecutor(self._client.settings.concurrency) as pool:
            for batch in self._batches(due):
                answered = [draft for draft in pool.map(self._ask, batch) if draft is not None]
                if answered:
                    publish_commands(self._zone.node.ledger, self._zone.name, answered)
                    self._zone.decide()
                if self._stopped is not None or not self._while():
                    break
        now = self._client.budget.run
        return ModelUse(
            now.calls - spent.calls,
            now.tokens - spent.tokens,
            max(now.cost - spent.cost, 0.0),
            self._stopped,
        )

    def _batches(self, due: Sequence[Draft]) -> Iterator[list[_Task]]:
        """Yield the analyses in batches, each with the messages that are known now."""
        single = [
            (msgspec.structs.replace(draft.payload, types=(own.id,), own=(own,)), own)
            for draft in due
            if isinstance(draft.payload, Analyse)
            for own in draft.payload.own
        ]
        for start in range(0, len(single), _BATCH_SIZE):
            with self._zone.files() as files, files.read_transaction():
                conversation = LedgerConversation(files.events.connection)
                batch = [
                    _Task(one, own, utterances_of(one.events, conversation, _AFTER_ALL))
                    for one, own in single[start : start + _BATCH_SIZE]
                ]
            yield batch

    def _ask(self, task: _Task) -> Draft | None:
        """Return the command with the model's answers, or with the reason why it gave none.

        None if a message was erased meanwhile, or the run stopped. The model is not called for an
        episode without text.
        """
        if self._stopped is not None or not self._while():
            return None
        numbers = tuple(utterance.number for utterance in task.utterances)
        answers, model, at, failure = [], None, unix_ms(), None
        try:
            for request in analysis_requests(task.own, task.utterances):
                recording, ref = self._recorder.ask(request, frozenset(numbers), ANALYSIS_ROLE)
                answers.append(ref)
                model, at = recording.header.model, recording.header.asked_at
        except ErasedDuringCall:
            return None
        except PromptRejected as error:
            answers, at = [], unix_ms()
            failure = f"{error.summary}; recollect analyses run asks again"
        except (SpendingLimitExceeded, ModelUnavailable) as error:
            self._stopped = str(error)
            return None
        name = f"analyse:{task.command.episode_id}:{task.own.id}"
        # The same answers about the same events are one command.
        digest = derive_ulid(0, *(ref.hash.hex() for ref in answers), str(task.command.events))
        answered = msgspec.structs.replace(
            task.command,
            source_id=f"{name}:{digest}" if answers else random_id(name),
            answers=tuple(answers),
            sources=numbers,
            model=model,
            role=ANALYSIS_ROLE,
            error=failure,
        )
        return command(answered, at, ingested_at=at)
