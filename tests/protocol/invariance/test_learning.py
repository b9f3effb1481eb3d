"""Learning comes out the same however the zone is driven, and whatever was forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from recollect.schemas.events import (
    AnyPayload,
    CompleteTrajectory,
    CreatePlaybook,
    CuratePlaybook,
    Draft,
    GiveFeedback,
    LogStep,
    PlaybookStrategy,
    RecordPlaybookUse,
    Reflect,
    StartTrajectory,
    UpdatePlaybook,
)
from recollect.schemas.ids import event_id
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.kit import MINUTE, START, ZONE, Home, agree, command, forget, live, tell_dying
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

STEPS = ("Run zuqo tests.", "Read the zeka log.", "Push to zibu.")
TABLES = (
    *("trajectories", "trajectory_steps", "trajectory_completions", "trajectory_feedback"),
    *("reflections", "reflection_items", "playbooks", "playbook_versions", "playbook_strategies"),
    *("strategy_evidence", "playbook_uses"),
)
#: Columns without the numbers of records, which differ between ledgers.
KEPT = {
    "trajectory_steps": "id, trajectory_id, kind, content, tool",
    "reflection_items": "reflection_id, position, kind, text, confidence, in_successes, evidence",
    "playbook_versions": "id, version, trajectory_id",
    "playbook_strategies": "strategy_id, kind, text, confidence, is_standing",
    "strategy_evidence": "strategy_id, trajectory_id, step_id",
}


class Story:
    """A history of runs, as drafts of one ledger."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.drafts: list[Draft] = []

    def add(self, payload: AnyPayload) -> str:
        """Add a command; return the id of its event."""
        draft = command(payload, START + len(self.drafts) * MINUTE)
        self.drafts.append(draft)
        return event_id(ZONE, draft.platform, payload.source_id, draft.occurred_at)

    def name(self) -> str:
        return f"c{len(self.drafts)}"

    def tell(self, runs: int, *, change: float = 0.2) -> Story:
        """Add runs of two task types, with feedback that changes scores by at most `change`."""
        draw = self._draw
        strategies = (PlaybookStrategy("Keep zoza notes."),)
        book = self.add(CreatePlaybook(source_id="book", name="a", strategies=strategies))
        for n in range(runs):
            kind = draw.choice("aaaab")
            run = self.add(
                StartTrajectory(
                    source_id=f"t{n}",
                    task=f"Zumi task {n}",
                    task_type=kind,
                    user_id="ada",
                    visibility="private" if n % 4 == 3 else "shared",
                )
            )
            # Runs are interleaved with events of others, and some steps name no run.
            taken = [step for step in STEPS if draw.random() < 0.5]
            for step in taken:
                self.add(
                    LogStep(
                        source_id=self.name(),
                        trajectory_id=draw.choice((*[run] * 9, "nobody")),
                        step=draw.choice(("action", "decision", "tool_call")),
                        content=step,
                        tool=draw.choice((None, None, "zol")),
                    )
                )
            good = STEPS[0] in taken
            self.add(
                CompleteTrajectory(
                    source_id=self.name(),
                    trajectory_id=run,
                    status="success" if good else "failure",
                    success_score=0.8 if good else 0.2,
                    error_message=None if good else "The zaru broke.",
                )
            )
            score = min(max((0.8 if good else 0.2) + draw.uniform(-change, change), 0), 1)
            self.add(
                GiveFeedback(source_id=self.name(), trajectory_id=run, score=score, source="human")
            )
            self.add(Reflect(source_id=self.name(), trajectory_id=run))
            self.add(CuratePlaybook(source_id=self.name(), playbook_id=book, trajectory_id=run))
            self.add(RecordPlaybookUse(source_id=self.name(), playbook_id=book, success=good))
        self.add(UpdatePlaybook(source_id="more", playbook_id=book, add=strategies[:1]))
        return self


def contents(home: Home) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(home.rows("memory", f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in KEPT.items()
    }


@pytest.mark.parametrize("seed", slow_except([0], range(3)))
def test_one_at_a_time_and_all_at_once_are_equal(make_home: MakeHome, seed: int) -> None:
    drafts = Story(seed).tell(14).drafts
    one, other = make_home("one"), make_home("other")
    for draft in drafts:
        one.tell(draft)
    other.tell(*drafts)
    assert live(one) == live(other)
    agree(other)
    for table in TABLES:
        assert other.rows("memory", f"SELECT 1 FROM {table} LIMIT 1"), table


@pytest.mark.parametrize("seed", slow_except([0], range(4)))
def test_what_is_forgotten_was_never_learned(make_home: MakeHome, seed: int) -> None:
    draw = random.Random(seed)
    drafts = Story(seed).tell(14).drafts
    home, without = make_home("home"), make_home("without")
    home.tell(*drafts)
    gone = set(draw.sample(range(1, len(drafts)), 6))
    for number in sorted(gone):
        home.tell(forget(number + 1, at=START + number))
        agree(home)
    without.tell(*(draft for n, draft in enumerate(drafts) if n not in gone))
    assert contents(home) == contents(without)
    assert verify(home.node, ZONE).ok


def test_a_word_of_forgotten_steps_is_in_no_row_and_no_record(make_home: MakeHome) -> None:
    drafts = Story(5).tell(14).drafts
    home = make_home("home")
    home.tell(*drafts)
    steps = [
        n + 1
        for n, draft in enumerate(drafts)
        if isinstance(draft.payload, LogStep) and "zuqo" in draft.payload.content
    ]
    assert any("zuqo" in str(row) for row in contents(home)["playbook_strategies"])
    home.tell(forget(*steps))
    agree(home)
    assert "zuqo" not in str([home.rows("memory", f"SELECT * FROM {name}") for name in TABLES])
    assert b"zuqo" not in home.readable_parts()


@pytest.mark.parametrize("seed", slow_except([0], range(2)))
def test_learning_again_is_replayed(make_home: MakeHome, seed: int) -> None:
    """Feedback that changes a score much makes commands of its own."""
    story = Story(seed).tell(10, change=0.8)
    home = make_home("home")
    home.tell(*story.drafts)
    home.drive()
    asked = "SELECT count(*) FROM reflections WHERE id NOT IN (SELECT id FROM playbook_versions)"
    assert home.rows("memory", asked)
    given = [n for n, draft in enumerate(story.drafts) if isinstance(draft.payload, GiveFeedback)]
    agree(home)
    home.tell(forget(*(number + 1 for number in given[:5])))
    agree(home)
    assert verify(home.node, ZONE).ok


@pytest.mark.parametrize(
    "name", ["append.committed", "commit.projected", "commit.produced", "commit.memory"]
)
def test_a_process_that_dies_between_steps_learns_the_same(make_home: MakeHome, name: str) -> None:
    drafts = Story(1).tell(10).drafts
    whole, broken = make_home("whole"), make_home("broken")
    whole.tell(*drafts)
    tell_dying(broken, drafts, name, 5)
    assert live(broken) == live(whole)
    agree(broken)
