"""What the agent of trajectories and playbooks decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from recollect.schemas.changes import (
    Embedding,
    Playbook,
    PlaybookUse,
    PlaybookVersion,
    Reflection,
    ReflectionItem,
    StrategyEvidence,
    TrajectoryCompletion,
    TrajectoryFeedback,
    TrajectoryStep,
)
from recollect.schemas.changes import PlaybookStrategy as StrategyRow
from recollect.schemas.events import (
    AnyPayload,
    CompleteTrajectory,
    CreatePlaybook,
    CuratePlaybook,
    GiveFeedback,
    LogStep,
    PlaybookStrategy,
    RecordPlaybookUse,
    Reflect,
    StartTrajectory,
    UpdatePlaybook,
)
from recollect.streams.agents.learning.learning_handler import LearningHandler
from tests.agents.kit import Outcome, Zone, command


class Learner:
    """A zone whose commands are named by themselves."""

    def __init__(self, *, encoder: bool = False) -> None:
        self.zone = Zone(LearningHandler(), encoder=encoder)

    def do(self, kind: Callable[..., AnyPayload], **fields: Any) -> Outcome:
        payload = kind(source_id=f"c{len(self.zone.events)}", **fields)
        return self.zone.read(command(payload))

    def start(self, task: str = "Release", kind: str = "release") -> str:
        return self.do(StartTrajectory, task=task, task_type=kind).event.id

    def step(self, run: str, words: str) -> Outcome:
        return self.do(LogStep, trajectory_id=run, step="action", content=words)

    def end(self, run: str, score: float) -> Outcome:
        status = "success" if score >= 0.5 else "failure"
        return self.do(CompleteTrajectory, trajectory_id=run, status=status, success_score=score)

    def run(self, score: float, *steps: str) -> str:
        run = self.start()
        for words in steps:
            self.step(run, words)
        self.end(run, score)
        return run

    def four_runs(self) -> str:
        """Two runs with tests succeed, two without fail; return the last."""
        self.run(1, "Run tests.", "Push.")
        self.run(0, "Push.")
        self.run(1, "Run tests.", "Push.")
        return self.run(0, "Push.")

    def book(self, *texts: str) -> str:
        strategies = tuple(PlaybookStrategy(text) for text in texts)
        return self.do(CreatePlaybook, name="release", strategies=strategies).event.id


def test_a_trajectory_its_step_and_its_end_are_rows() -> None:
    learner = Learner()
    run = learner.start()
    step = learner.step(run, "Run tests.")
    end = learner.end(run, 1)
    assert step.rows(TrajectoryStep)[0].content == "Run tests."
    assert step.sources_of(TrajectoryStep) == [(1, 2)]
    assert end.rows(TrajectoryCompletion)[0].status == "success"


def test_nothing_is_added_to_an_unknown_or_ended_trajectory() -> None:
    learner = Learner()
    run = learner.run(1)
    for outcome in (
        learner.step("nobody", "x"),
        learner.step(run, "x"),
        learner.end(run, 0),
        learner.end("nobody", 0),
        learner.do(GiveFeedback, trajectory_id="nobody", score=1.0, source="human"),
        learner.do(Reflect, trajectory_id="nobody"),
        learner.do(Reflect, trajectory_id=learner.start()),
        learner.do(CuratePlaybook, playbook_id="nobody", trajectory_id=run),
        learner.do(UpdatePlaybook, playbook_id="nobody", remove=("x",)),
        learner.do(RecordPlaybookUse, playbook_id="nobody", success=True),
    ):
        assert outcome.parts == []


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_outside_its_range_has_no_effect(score: float) -> None:
    learner = Learner()
    run = learner.start()
    assert learner.end(run, score).parts == []
    feedback = learner.do(GiveFeedback, trajectory_id=run, score=score, source="human")
    assert feedback.parts == []


def test_each_item_rests_on_the_steps_whose_words_it_has() -> None:
    learner = Learner()
    run = learner.four_runs()
    outcome = learner.do(Reflect, trajectory_id=run)
    (head,) = outcome.rows(Reflection)
    assert (head.successes, head.failures, head.model) == (2, 2, None)
    (item,) = outcome.rows(ReflectionItem)
    assert (item.kind, item.text, item.in_successes) == ("helpful", "Run tests.", 2)
    assert head.confidence == item.confidence == round(1 - 1 / 6, 4)
    numbers = [
        event.number
        for event in learner.zone.events
        if isinstance(event.payload, LogStep) and event.payload.content == "Run tests."
    ]
    assert json.loads(item.sources) == numbers
    assert outcome.sources_of(ReflectionItem) == [(*numbers, outcome.event.number)]


def test_runs_of_another_type_are_not_compared() -> None:
    learner = Learner()
    learner.four_runs()
    other = learner.start(kind="holiday")
    learner.end(other, 1)
    assert learner.do(Reflect, trajectory_id=other).parts == []


def test_curation_merges_what_says_the_same() -> None:
    learner = Learner()
    run = learner.four_runs()
    learner.do(Reflect, trajectory_id=run)
    weak = (PlaybookStrategy("Run tests", confidence=0.1), PlaybookStrategy("Never run tests."))
    book = learner.do(CreatePlaybook, name="release", strategies=weak).event.id
    outcome = learner.do(CuratePlaybook, playbook_id=book, trajectory_id=run)
    (strategy,) = outcome.rows(StrategyRow)
    assert (strategy.text, strategy.confidence) == ("Run tests", round(1 - 1 / 6, 4))
    assert len(outcome.rows(StrategyEvidence)) == 2
    assert [row.version for row in outcome.rows(PlaybookVersion)] == [2]
    # The same again changes nothing, so there is no third version.
    assert learner.do(CuratePlaybook, playbook_id=book, trajectory_id=run).parts == []


def test_a_merge_keeps_the_higher_confidence() -> None:
    learner = Learner()
    run = learner.four_runs()
    learner.do(Reflect, trajectory_id=run)
    book = learner.book("Run tests.")
    outcome = learner.do(CuratePlaybook, playbook_id=book, trajectory_id=run)
    assert outcome.rows(StrategyRow) == []
    assert len(outcome.rows(StrategyEvidence)) == 2


def test_a_version_writes_only_what_it_changes() -> None:
    learner = Learner()
    book = learner.book("Run tests.", "Read the log.")
    ((id_,),) = learner.zone.ask(
        "memory", "SELECT strategy_id FROM playbook_strategies WHERE text = 'Run tests.'"
    )
    more = (PlaybookStrategy("Ask."), PlaybookStrategy("ask"), PlaybookStrategy("  "))
    outcome = learner.do(UpdatePlaybook, playbook_id=book, add=more, remove=(id_, "nobody"))
    rows = {row.text: row.is_standing for row in outcome.rows(StrategyRow)}
    assert rows == {"Run tests.": 0, "Ask.": 1}
    current = learner.zone.ask("memory", "SELECT text FROM current_strategies ORDER BY text")
    assert [text for (text,) in current] == ["Ask.", "Read the log."]
    assert learner.do(UpdatePlaybook, playbook_id=book, remove=(id_,)).parts == []


def test_feedback_that_changes_the_score_much_asks_to_learn_again() -> None:
    learner = Learner()
    run = learner.four_runs()
    book = learner.book()
    learner.do(Reflect, trajectory_id=run)
    learner.do(CuratePlaybook, playbook_id=book, trajectory_id=run)
    little = learner.do(GiveFeedback, trajectory_id=run, score=0.3, source="monitoring")
    assert [row.source for row in little.rows(TrajectoryFeedback)] == ["monitoring"]
    assert little.outbox == []
    much = learner.do(GiveFeedback, trajectory_id=run, score=0.9, source="human")
    reflect, curate = (draft.payload for draft in much.outbox)
    assert isinstance(reflect, Reflect)
    assert reflect.trajectory_id == run
    assert isinstance(curate, CuratePlaybook)
    assert (curate.playbook_id, curate.trajectory_id) == (book, run)
    # With this run a success, tests no longer tell the runs apart.
    (relearned, _) = (learner.zone.read(draft) for draft in much.outbox)
    assert relearned.rows(Reflection) == []


def test_a_task_and_a_strategy_by_hand_have_vectors() -> None:
    learner = Learner(encoder=True)
    run = learner.start()
    book = learner.do(CreatePlaybook, name="release", strategies=(PlaybookStrategy("Run tests."),))
    rows = [row for row in book.puts if isinstance(row, Embedding)]
    assert [row.target_type for row in rows] == ["strategy"]
    assert learner.zone.ask("memory", "SELECT id FROM trajectories") == [(run,)]


def test_uses_are_rows_of_the_playbook() -> None:
    learner = Learner()
    book = learner.book()
    outcome = learner.do(RecordPlaybookUse, playbook_id=book, success=False)
    assert [(row.playbook_id, row.success) for row in outcome.rows(PlaybookUse)] == [(book, 0)]


def test_what_was_not_given_is_absent() -> None:
    learner = Learner()
    learner.start()
    book = learner.do(CreatePlaybook, name="release")
    (row,) = book.rows(Playbook)
    assert (row.agent_id, row.scope, row.visibility) == (None, "zone", "shared")
    query = "SELECT agent_id, playbook_id, metadata FROM trajectories"
    assert learner.zone.ask("memory", query) == [(None, None, "{}")]
