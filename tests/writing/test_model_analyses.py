"""Analyses by a language model: what it is shown, what it may state, what it costs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect import Analysis, Facet, Recollect
from recollect.home.home_directory import Home
from recollect.home.open_zone import unix_ms
from recollect.home.ticks.due_analyses import due_commands
from recollect.operations.writing import analysis_writing
from recollect.operations.writing.analysis_writing import (
    ModelUse,
    analyse_by_model,
    analyse_if_due,
)
from recollect.operations.writing.writing import open_client
from recollect.schemas.errors import InvalidInput
from recollect.streams.analyses.model_analyses import MODEL_ANALYSES
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting, writing_home
from tests.writing.model_server import Body, Reply, say

TALK = (
    ("Ada", "Shall we move the regatta to Lerwick?"),
    ("Bo", "Yes, let's do that on Saturday."),
    ("Ada", "I will book the ferry for 14 people."),
)
AGREED = "Ada and Bo moved the regatta to Lerwick, on Saturday 9 May 2026."
BOOKS = "Ada books the ferry for 14 people."
State = dict[str, Any]


def data_in(body: Body) -> Any:
    """Return the data that a model is shown."""
    text = body["messages"][1]["content"]
    return json.loads(text[len("<data>\n") : -len("\n</data>")])


def states(*statements: State) -> Callable[[Body], Reply]:
    """Return a script that makes these statements, whatever it is asked."""
    return lambda body: say("", *(("state", each) for each in statements))


def agreed(text: str = AGREED, *messages: int, **more: Any) -> State:
    return {"text": text, "messages": list(messages or (1, 2)), **more}


def talk(memory: Memory, *said: tuple[str, str], first: int = 0) -> None:
    memory.ingest(
        {
            "platform": "chat",
            "id": f"m{minute}",
            "sender_id": who.lower(),
            "sender_name": who,
            "peer_id": "crew",
            "occurred_at": f"2026-05-08T10:{minute:02}:00Z",
            "content": text,
        }
        for minute, (who, text) in enumerate(said or TALK, first)
    )


def in_background(memory: Memory, while_: Callable[[], bool] = lambda: True) -> ModelUse:
    """Let the model analyse what is due, as a service or a worker does."""
    with closing(open_client(memory.home.configuration, memory.home.directory)) as client:
        return analyse_if_due(memory._of._zone, client, while_)


def only(memory: Memory, type_: str) -> Analysis:
    (found,) = memory.analyses(type=type_)
    assert isinstance(found, Analysis)
    return found


def facets(memory: Memory, type_: str) -> list[Facet]:
    return list(memory.facets(type=type_))


def test_A10_a_model_summarises_and_cites_the_messages(opened: OpenWriting) -> None:
    memory, server = opened(states(agreed(), agreed(BOOKS, 3)))
    talk(memory)
    report = memory.analyse(types=["summary_v1", "model_summary_v1"])
    assert (report.completed, report.calls, report.stopped) == (2, 1, None)
    assert report.tokens == 120
    (question,) = server.questions
    assert "Summarise the messages" in question["messages"][0]["content"]
    assert data_in(question)["messages"][1] == {
        "message": 2,
        "day": "Friday 2026-05-08",
        "by": "Bo",
        "text": "Yes, let's do that on Saturday.",
    }
    assert only(memory, "model_summary_v1").text == f"{AGREED}\n{BOOKS}"
    assert "Bo: Yes" not in str(only(memory, "model_summary_v1").text)
    found = sorted(facets(memory, "summary"), key=lambda each: each.value)
    by_model = [each for each in found if each.analysis_type == "model_summary_v1"]
    assert [(each.value, each.count) for each in by_model] == [(AGREED, 2), (BOOKS, 1)]
    assert memory.get_memory(by_model[1].event_id).text == TALK[2][1]
    assert memory.verify().ok


def test_A10_a_model_reports_what_was_settled(opened: OpenWriting) -> None:
    memory, server = opened(
        states(agreed(facet="decision"), agreed(BOOKS, 3, facet="next_step"), agreed(facet="x"))
    )
    talk(memory)
    assert memory.analyse(types=["model_conversation_v1"]).completed == 1
    (tool,) = server.questions[0]["tools"]
    assert tool["function"]["parameters"]["properties"]["facet"] == {
        "enum": ["point", "decision", "open_question", "next_step"]
    }
    text = only(memory, "model_conversation_v1").text
    assert text == f"decision: {AGREED}\nnext step: {BOOKS}"
    assert [each.value for each in facets(memory, "decision")] == [AGREED]


@pytest.mark.parametrize(
    "wrong",
    [
        agreed("Ada and Zelda moved the regatta to Lerwick."),
        agreed("Ada and Bo moved the regatta to Lerwick on 3 June 2026."),
        agreed("Ada and Bo moved 14 regattas to Lerwick."),
        agreed(AGREED, 4),
        agreed(AGREED, 0),
        {"text": AGREED, "messages": []},
        {"text": "", "messages": [1]},
        {"text": "Ada sails. " * 60, "messages": [1]},
        {"text": AGREED},
    ],
)
def test_A10_a_statement_that_no_message_supports_is_left_out(
    opened: OpenWriting, wrong: State
) -> None:
    memory, _ = opened(states(agreed(BOOKS, 3), wrong))
    talk(memory)
    memory.analyse(types=["model_summary_v1"])
    assert only(memory, "model_summary_v1").text == BOOKS


@pytest.mark.parametrize("reply", [say("", ("state", "{")), say("", ("forget", agreed()))])
def test_A10_an_answer_without_a_supported_statement_failed(
    opened: OpenWriting, reply: Reply
) -> None:
    memory, _ = opened(lambda body: reply)
    talk(memory)
    assert memory.analyse(types=["model_summary_v1"]).failed == 1
    run = only(memory, "model_summary_v1")
    assert (run.status, run.text) == ("failed", None)
    assert "the messages support nothing that the model stated" in str(run.error)


def test_F1_a_model_is_not_shown_what_memory_said(opened: OpenWriting) -> None:
    memory, server = opened(states(agreed("Ada rows.", 1)))
    told = "<memory_context>\nAda breeds alpacas.\n</memory_context>"
    talk(memory, ("Ada", f"{told}\nI row."))
    memory.analyse(types=["model_summary_v1"])
    assert [each["text"] for each in data_in(server.questions[0])["messages"]] == ["I row."]


def test_A10_an_analysis_is_paid_for_once(opened: OpenWriting) -> None:
    memory, server = opened(states(agreed()), price_in=1.0, price_out=2.0)
    talk(memory)
    estimate = memory.analyse(types=["model_summary_v1"], dry_run=True)
    assert (estimate.requested, estimate.remaining, estimate.dry_run) == (1, 1, True)
    assert estimate.calls >= 1
    assert estimate.cost > 0
    assert server.questions == []
    assert not list(memory.analyses())
    report = memory.analyse(types=["model_summary_v1"])
    assert report.cost == pytest.approx((100 * 1 + 20 * 2) / 1_000_000)
    assert memory.analyse(types=["model_summary_v1"]).requested == 0
    before = only(memory, "model_summary_v1")
    memory.rebuild("derive")
    assert only(memory, "model_summary_v1") == before
    assert len(server.questions) == 1


def test_A10_an_exhausted_budget_stops_the_run_and_leaves_the_rules(opened: OpenWriting) -> None:
    memory, server = opened(states(agreed()), tokens_per_day=1)
    talk(memory)
    report = memory.analyse(types=["summary_v1", "model_summary_v1"])
    assert (report.completed, report.remaining) == (1, 1)
    assert report.stopped is not None
    assert server.questions == []


def test_A10_a_forgotten_message_takes_what_a_model_made_of_it(opened: OpenWriting) -> None:
    memory, server = opened(states(agreed(), agreed(BOOKS, 3)))
    talk(memory)
    memory.analyse(types=["model_summary_v1"])
    (told,) = [each for each in facets(memory, "summary") if each.value == BOOKS]
    memory.forget(told.event_id)
    assert not list(memory.analyses(type="model_summary_v1"))
    assert not facets(memory, "summary")
    assert files_holding(memory.home.directory, b"ferry") == []
    assert memory.analyse(types=["model_summary_v1"]).completed == 1
    assert only(memory, "model_summary_v1").text == AGREED
    assert len(data_in(server.questions[-1])["messages"]) == 2
    assert memory.verify().ok


def test_A10_what_is_edited_while_a_model_reads_is_asked_about_again(opened: OpenWriting) -> None:
    def script(body: Body) -> Reply:
        if len(edited) == 0:
            edited.append(body)
            memory.ingest(
                {
                    "platform": "chat",
                    "kind": "edit",
                    "id": "e1",
                    "target": "m2",
                    "sender_id": "ada",
                    "sender_name": "Ada",
                    "peer_id": "crew",
                    "occurred_at": "2026-05-08T10:03:00Z",
                    "content": "I will book the ferry for 15 people.",
                }
            )
        return say("", ("state", agreed()))

    memory, server = opened(script)
    edited: list[Body] = []
    talk(memory)
    assert memory.analyse(types=["model_summary_v1"]).remaining == 1
    assert memory.analyse(types=["model_summary_v1"]).completed == 1
    shown = [each["text"] for each in data_in(server.questions[-1])["messages"]]
    assert TALK[2][1] not in shown
    assert only(memory, "model_summary_v1").text == AGREED


def test_A10_a_long_episode_is_asked_about_in_parts(opened: OpenWriting) -> None:
    memory, server = opened(
        lambda body: say(
            "",
            *(
                ("state", {"text": "Ada rows.", "messages": [each["message"]]})
                for each in data_in(body)["messages"][:1]
            ),
        )
    )
    talk(memory, *(("Ada", f"I row. {'row ' * 2_500}") for _ in range(4)))
    assert memory.analyse(types=["model_summary_v1"]).completed == 1
    parts = [[each["message"] for each in data_in(asked)["messages"]] for asked in server.questions]
    assert parts == [[1, 2], [3, 4]]
    assert only(memory, "model_summary_v1").text == "Ada rows."


def test_A10_a_prompt_of_ones_own_is_run(tmp_path: Path) -> None:
    place = tmp_path / "home"
    Home.create_or_open(place, without_encoder=True, writer="model")
    path = place / "home.json"
    own = {"name": "mood", "prompt": "How do they feel?", "facets": ["calm", "upset"]}
    path.write_text(json.dumps({**json.loads(path.read_text()), "analyses": [own]}))
    with writing_home(place, states(agreed("Bo agrees.", 2, facet="calm"))) as (memory, server):
        talk(memory)
        assert memory.analyse(types=["mood_v1"]).completed == 1
        assert "How do they feel?" in server.questions[0]["messages"][0]["content"]
        assert only(memory, "mood_v1").text == "calm: Bo agrees."
        assert [each.value for each in facets(memory, "calm")] == ["Bo agrees."]


def test_A10_without_a_model_a_built_in_prompt_is_refused(tmp_path: Path) -> None:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(tmp_path / "home") as recollect:
        zone = recollect.zone("work")
        zone.ingest(
            {
                "platform": "chat",
                "sender_id": "ada",
                "occurred_at": "2026-05-08T10:00:00Z",
                "content": "I row.",
            }
        )
        with pytest.raises(InvalidInput, match="model_summary_v1 needs a language model"):
            zone.analyse(types=["model_summary_v1"])
        assert "model_summary" not in {each.name for each in zone.analysis_types().types}
        assert zone.analyse().blocked == 0


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (say("Well, ", finish="length"), "was cut off before it called a tool"),
        (
            Reply(b'{"error": {"message": "lerwick is not allowed here"}}', status=400),
            "rejected the prompt (400)",
        ),
    ],
)
def test_A10_an_analysis_without_a_usable_answer_fails_and_is_paid_for_once(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch, reply: Reply, error: str
) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    memory, server = opened(lambda body: reply)
    talk(memory)
    assert in_background(memory).stopped is None
    asked = len(server.questions)
    assert asked == len(MODEL_ANALYSES)
    run = only(memory, "model_summary_v1")
    assert (run.status, run.text, run.facets) == ("failed", None, 0)
    assert error in str(run.error)
    # A service may quote what it was sent.
    assert "lerwick" not in str(run.error)
    assert in_background(memory).calls == 0
    assert len(server.questions) == asked
    assert memory.analyse(types=["model_summary_v1"]).failed == 1
    server.script = states(agreed())
    assert memory.analyse(types=["model_summary_v1"]).completed == 1
    assert only(memory, "model_summary_v1").error is None
    assert memory.verify().ok


def test_A10_what_was_blocked_for_want_of_a_model_is_analysed_once_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    place = tmp_path / "home"
    Home.create_or_open(place, without_encoder=True)
    path = place / "home.json"
    own = {"name": "mood", "prompt": "How do they feel?"}
    path.write_text(json.dumps({**json.loads(path.read_text()), "analyses": [own]}))
    with Memory(place) as memory:
        talk(memory)
        for _ in range(5):
            assert memory.analyse(types=["mood_v1"]).blocked == 1
    Home.create_or_open(place, writer="model")
    with writing_home(place, states(agreed())) as (memory, _):
        memory.rebuild("derive")
        assert only(memory, "mood_v1").status == "blocked"
        in_background(memory)
        run = only(memory, "mood_v1")
        assert (run.status, run.text) == ("completed", AGREED)


def test_A10_two_processes_may_analyse_an_episode_without_text(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, server = opened(states(agreed()))
    memory.ingest(
        {
            "platform": "chat",
            "id": "m1",
            "sender_id": "ada",
            "peer_id": "crew",
            "occurred_at": "2026-05-08T10:00:00Z",
            "content": "",
            "attachments": [{"type": "image", "name": "boat.png"}],
        }
    )
    later = itertools.count(unix_ms())
    monkeypatch.setattr(analysis_writing, "unix_ms", lambda: next(later))
    zone = memory._of._zone
    with zone.files() as files:
        due = due_commands(
            files.memory.connection,
            MODEL_ANALYSES,
            ["model_summary_v1"],
            at=next(later),
            definition="time_window",
            limit=10,
        )
    assert len(due) == 1
    for _ in range(2):
        analyse_by_model(zone, due)
    assert server.questions == []
    assert only(memory, "model_summary_v1").status == "completed"


def test_A10_a_run_in_the_background_ends_when_it_is_no_longer_wanted(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    memory, server = opened(states(agreed()), concurrency=1)
    talk(memory)
    use = in_background(memory, lambda: not server.questions)
    assert (use.calls, use.stopped) == (1, None)
    assert len(server.questions) == 1
    assert [run.status for run in memory.analyses()] == ["completed"]
    assert in_background(memory).calls == len(MODEL_ANALYSES) - 1
