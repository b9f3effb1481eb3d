"""Versions of playbooks: strategies added, merged and removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import msgspec

from recollect.projections.memory import learning_queries
from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    Playbook,
    PlaybookStrategy,
    PlaybookVersion,
    StrategyEvidence,
    Trajectory,
)
from recollect.schemas.events import CreatePlaybook, CuratePlaybook, Event, UpdatePlaybook
from recollect.schemas.events import PlaybookStrategy as GivenStrategy
from recollect.schemas.ids import row_id
from recollect.schemas.memory_terms import Owner, learning_reader
from recollect.streams.agents.state import State
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.learning.strategies import FoundItem, StepRef, most_similar

_json = msgspec.json.Encoder()
_refs = msgspec.json.Decoder(tuple[StepRef, ...])
_numbers = msgspec.json.Decoder(tuple[int, ...])


def created_playbook(event: Event, creation: CreatePlaybook, state: State) -> list[DecidedPart]:
    """Return a new playbook and its first version."""
    playbook = Playbook(
        id=event.id,
        name=creation.name,
        description=creation.description,
        agent_id=creation.agent_id,
        user_id=creation.user_id,
        scope=creation.scope,
        visibility=creation.visibility,
        number=event.number,
        created_at=event.occurred_at,
    )
    changes = _Changes(event, playbook, state, [])
    changes.add_given(creation.strategies)
    version = PlaybookVersion(event.id, event.id, 1, None, event.number, event.occurred_at)
    return [DecidedPart((event.number,), [playbook, version]), *changes.parts()]


def updated_playbook(event: Event, update: UpdatePlaybook, state: State) -> list[DecidedPart]:
    """Return a new version with strategies added and removed; none if nothing changes."""
    playbook = state.playbook(update.playbook_id)
    if playbook is None:
        return []
    changes = _Changes(event, playbook, state, state.current_strategies(playbook.id))
    changes.remove(update.remove)
    changes.add_given(update.add)
    return changes.version(None)


def curated_playbook(event: Event, curation: CuratePlaybook, state: State) -> list[DecidedPart]:
    """Return a new version with what the newest reflection found; none if it has all of that.

    A strategy that duplicates one of the playbook is merged with it; the result has the higher
    confidence and the evidence of both. A playbook with other readers than the trajectory has is
    not changed.
    """
    playbook = state.playbook(curation.playbook_id)
    trajectory = state.trajectory(curation.trajectory_id)
    reflection = state.newest_reflection(curation.trajectory_id)
    if playbook is None or trajectory is None or reflection is None:
        return []
    if not may_learn_from(playbook, trajectory):
        return []
    changes = _Changes(event, playbook, state, state.current_strategies(playbook.id))
    for item in state.reflection_items(reflection.id):
        if item.kind != "observation":
            changes.add(
                FoundItem(
                    item.kind,
                    item.text,
                    item.confidence,
                    _refs.decode(item.evidence),
                    _numbers.decode(item.sources),
                )
            )
    return changes.version((trajectory.id, trajectory.number))


def may_learn_from(playbook: Playbook, trajectory: Trajectory) -> bool:
    """Return whether every reader of a playbook may read a trajectory, whose words it gets."""
    owner = (playbook.scope, playbook.visibility, playbook.user_id, playbook.agent_id)
    readers = Owner(trajectory.reader_user, trajectory.reader_agent)
    return readers.includes_all_of(learning_reader(*owner))


def learned_playbooks(trajectory_id: str, state: State) -> list[str]:
    """Return the ids of the playbooks that learned from a trajectory; only for commands."""
    return learning_queries.playbooks_learned_from(state.memory, trajectory_id)


class _Changes:
    """The changes of a playbook's strategies by one event."""

    def __init__(
        self, event: Event, playbook: Playbook, state: State, current: Sequence[PlaybookStrategy]
    ) -> None:
        self._event = event
        self._playbook = playbook
        self._state = state
        self._current = {each.strategy_id: each for each in current}
        self._changed: dict[str, PlaybookStrategy] = {}
        #: (strategy id, step) -> the numbers of the events behind the step
        self._evidence: dict[tuple[str, StepRef], tuple[int, ...]] = {}

    def version(self, learned_from: tuple[str, int] | None) -> list[DecidedPart]:
        """Return the new version with all changes; nothing if there are none.

        `learned_from`: id and number of the trajectory.
        """
        changes = self.parts()
        if not changes:
            return []
        row = PlaybookVersion(
            id=self._event.id,
            playbook_id=self._playbook.id,
            version=self._state.last_playbook_version(self._playbook.id) + 1,
            trajectory_id=None if learned_from is None else learned_from[0],
            number=self._event.number,
            created_at=self._event.occurred_at,
        )
        return [self._part([row], () if learned_from is None else learned_from[1:]), *changes]

    def parts(self) -> list[DecidedPart]:
        """Return the changed strategies and the new evidence."""
        changed = [
            self._part([row, *self._vectors(row)], _numbers.decode(row.sources))
            for row in self._changed.values()
        ]
        number = self._event.number
        evidence = [
            self._part([StrategyEvidence(id_, ref.trajectory_id, ref.step_id, number)], sources)
            for (id_, ref), sources in self._evidence.items()
        ]
        return [*changed, *evidence]

    def remove(self, strategy_ids: Iterable[str]) -> None:
        """Remove strategies; unknown ids are ignored."""
        for strategy_id in strategy_ids:
            if (strategy := self._current.pop(strategy_id, None)) is not None:
                self._change(msgspec.structs.replace(strategy, is_standing=0))

    def add_given(self, strategies: Iterable[GivenStrategy]) -> None:
        """Add strategies written by hand."""
        for given in strategies:
            if given.text.strip() and isfinite(given.confidence) and 0 <= given.confidence <= 1:
                sources = (self._event.number,)
                self.add(FoundItem(given.kind, given.text, given.confidence, (), sources))

    def add(self, item: FoundItem) -> None:
        """Add a strategy, or merge it with a duplicate of its kind."""
        assert item.kind != "observation"
        same_kind = [strategy for strategy in self._current.values() if strategy.kind == item.kind]
        index = most_similar(item.text, [strategy.text for strategy in same_kind])
        if index is not None:
            strategy = same_kind[index]
            if item.confidence > strategy.confidence:
                strategy = msgspec.structs.replace(strategy, confidence=item.confidence)
                self._change(strategy)
        else:
            event, place = self._event, str(len(self._changed))
            strategy = PlaybookStrategy(
                strategy_id=row_id(event.occurred_at, "strategy", event.id, place),
                number=event.number,
                playbook_id=self._playbook.id,
                kind=item.kind,
                text=item.text,
                confidence=item.confidence,
                is_standing=1,
                sources=_json.encode(item.sources).decode(),
            )
            self._change(strategy)
        known = self._state.strategy_evidence(strategy.strategy_id)
        for ref in item.evidence:
            if ref not in known:
                self._evidence[strategy.strategy_id, ref] = item.sources

    def _change(self, strategy: PlaybookStrategy) -> None:
        """Record a strategy as of this version."""
        strategy = msgspec.structs.replace(strategy, number=self._event.number)
        self._changed[strategy.strategy_id] = strategy
        if strategy.is_standing:
            self._current[strategy.strategy_id] = strategy

    def _vectors(self, strategy: PlaybookStrategy) -> list[AnyRow]:
        """Return the vector of a strategy that this event adds by hand."""
        if _numbers.decode(strategy.sources) != (self._event.number,):
            return []
        target = ("strategy", strategy.strategy_id, strategy.text)
        return [*embedding_rows(self._state, self._event.occurred_at, target)]

    def _part(self, rows: Sequence[AnyRow], sources: Iterable[int]) -> DecidedPart:
        numbers = {self._event.number, self._playbook.number, *sources}
        return DecidedPart(tuple(sorted(numbers)), [*rows])
