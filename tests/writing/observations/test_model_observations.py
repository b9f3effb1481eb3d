"""Observations by a language model: what it may say, what it costs, what nonsense does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, Reply, say

POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
    "I never sold my pottery in Lima.",
    "I keep my pottery in the garden shed.",
)
SENTENCES = (
    ("She signed up for a pottery class in Oslo on 1 May 2026 and made two bowls there", (1, 2)),
    ("She showed her pottery at the winter market, and never sold it in Lima", (3, 4)),
    ("She keeps her pottery in the garden shed", (5,)),
)

Answer = dict[str, Any]
Change = Callable[[Answer], object]


def data_in(body: Body) -> Any:
    """Return the data that a model is shown."""
    text = body["messages"][1]["content"]
    assert text.startswith("<data>\n")
    assert text.endswith("\n</data>")
    return json.loads(text[len("<data>\n") : -len("\n</data>")])


def answer() -> Answer:
    """Return a good answer about the pottery."""
    decisions = [{"item": number, "decision": "new"} for number in range(1, 6)]
    sentences = [{"text": text, "items": list(items)} for text, items in SENTENCES]
    return {"items": decisions, "sentences": sentences}


def writes(change: Change = lambda answer: None) -> Callable[[Body], Reply]:
    """Return a script that gives the good answer with a change."""

    def script(body: Body) -> Reply:
        given = answer()
        change(given)
        return say("", ("write_observation", given))

    return script


def tell(memory: Memory, *texts: str, first: int = 1) -> None:
    memory.ingest(
        {
            "platform": "chat",
            "id": f"m{day}",
            "sender_id": "ada",
            "sender_name": "Ada",
            "occurred_at": f"2026-05-{day:02}T10:00:00Z",
            "ingested_at": f"2026-05-{day:02}T10:00:00Z",
            "content": text,
        }
        for day, text in enumerate(texts, first)
    )


def pottery(memory: Memory) -> Any:
    (found,) = [each for each in memory.observations() if each.topic == "pottery"]
    return found


def test_a_model_writes_from_numbered_items_and_cites_them(opened: OpenWriting) -> None:
    memory, server = opened(writes())
    tell(memory, *POTTERY)
    rules = pottery(memory)
    report = memory.write_observations()
    assert (report.pending, report.processed, report.accepted, report.rejected) == (1, 1, 1, 0)
    shown = data_in(server.questions[-1])
    assert (shown["about"], shown["topic"]) == ("Ada", "pottery")
    assert shown["items"][0] == {
        "item": 1,
        "text": "signed up for a pottery class in Oslo (said 1 May 2026)",
    }
    found = pottery(memory)
    assert found.text == "Ada – pottery: " + "; ".join(text for text, _ in SENTENCES) + "."
    assert (found.model, found.previous, found.current) == ("scripted", rules.id, True)
    facts = {fact.id: fact.text for fact in memory.facts()}
    assert [(item.text, facts[item.fact_id][:14]) for item in found.items] == [
        (SENTENCES[0][0], "Ada signed up "),
        (SENTENCES[0][0], "Ada made two b"),
        (SENTENCES[1][0], "Ada showed Ada"),
        (SENTENCES[1][0], "Ada never sold"),
        (SENTENCES[2][0], "Ada keeps Ada'"),
    ]
    why = [step.description for step in memory.why(found.id).steps]
    assert "written by scripted, from its recorded answer" in why
    assert memory.verify().ok


def test_a_rebuild_asks_no_model(opened: OpenWriting) -> None:
    memory, server = opened(writes())
    tell(memory, *POTTERY)
    memory.write_observations()
    before, asked = pottery(memory), len(server.questions)
    memory.rebuild("derive")
    assert pottery(memory).text == before.text
    assert len(server.questions) == asked


def test_an_answer_is_paid_for_once(opened: OpenWriting) -> None:
    memory, server = opened(writes(), tokens_per_run=10_000)
    tell(memory, *POTTERY)
    estimate = memory.write_observations(dry_run=True)
    assert (estimate.pending, estimate.min_calls, server.questions) == (1, 1, [])
    assert memory.write_observations().calls == 1
    again = memory.write_observations()
    assert (again.pending, again.calls, len(server.questions)) == (0, 0, 1)


def test_an_exhausted_budget_stops_the_run_and_says_so(opened: OpenWriting) -> None:
    memory, server = opened(writes(), tokens_per_run=10)
    tell(memory, *POTTERY)
    before = pottery(memory)
    report = memory.write_observations()
    assert report.processed == 0
    assert "tokens_per_run" in (report.stopped or "")
    assert (pottery(memory), server.questions) == (before, [])


def test_what_the_rules_write_next_takes_the_models_place(opened: OpenWriting) -> None:
    memory, server = opened(writes())
    tell(memory, *POTTERY)
    memory.write_observations()
    by_model = pottery(memory)
    tell(memory, "I sold my pottery wheel.", "Nice weather.", first=11)
    after = pottery(memory)
    assert (after.model, after.previous) == (None, by_model.id)
    assert "sold" in after.text
    shown: list[Body] = []

    def refuses(body: Body) -> Reply:
        shown.append(body)
        return say("Hm.")

    server.script = refuses
    assert memory.write_observations().rejected == 1
    assert "sold" in data_in(shown[0])["items"][-1]["text"]


def test_a_fact_that_changes_no_text_leaves_the_models_text(opened: OpenWriting) -> None:
    memory, _ = opened(writes())
    tell(memory, *POTTERY)
    memory.write_observations()
    before = pottery(memory)
    tell(memory, "I showed my pottery at the winter market.", "Good.", first=11)
    assert pottery(memory).text == before.text


def test_an_answer_about_an_earlier_state_changes_nothing(opened: OpenWriting) -> None:
    def meanwhile(body: Body) -> Reply:
        tell(memory, "I sold my pottery wheel.", "Nice weather.", first=11)
        return writes()(body)

    memory, server = opened(writes())
    tell(memory, *POTTERY)
    server.script = meanwhile
    memory.write_observations()
    assert pottery(memory).model is None


def test_an_erasure_takes_the_models_text_and_leaves_that_of_the_rules(
    opened: OpenWriting,
) -> None:
    memory, _ = opened(writes())
    tell(memory, *POTTERY)
    memory.write_observations()
    memory.forget("m2")
    assert pottery(memory).model is None
    assert "bowls" not in str(memory.observations(superseded=True))
    assert files_holding(memory.home.directory, b"two bowls") == []
    assert memory.verify().ok


def _decide(number: int, decision: str) -> Change:
    def change(given: Answer) -> None:
        given["items"][number - 1]["decision"] = decision

    return change


def _says(text: str, *items: int) -> Change:
    """Return a change of the second sentence."""

    def change(given: Answer) -> None:
        given["sentences"][1] = {"text": text, "items": list(items or (3, 4))}

    return change


#: What a model may get wrong, and the words of the reason.
WRONG: dict[str, tuple[Change, str]] = {
    "leaves an item undecided": (lambda given: given["items"].pop(), "item 5 is neither used nor"),
    "decides an item twice": (
        lambda given: given["items"].append({"item": 1, "decision": "chatter"}),
        "item 1 is decided twice",
    ),
    "decides an item of its own": (
        lambda given: given["items"].append({"item": 9, "decision": "new"}),
        "there is no item 9",
    ),
    "cites an item of its own": (_says("She never sold pottery in Lima", 3, 4, 9), "cites item 9"),
    "cites what it leaves out": (_decide(3, "chatter"), "cites item 3, which is left out"),
    "leaves out what is new": (_says("She never sold pottery in Lima", 4), "item 3 is new, but"),
    "leaves out a negation": (
        lambda given: (_decide(4, "restates")(given), _says("She showed her pottery", 3)(given)),
        "item 4 is negative",
    ),
    "drops a negation": (
        lambda given: given["sentences"].append(
            {"text": "She sold her pottery in Lima", "items": [4]}
        ),
        "leaves out that one of its items denies something",
    ),
    "denies": (
        lambda given: given["sentences"].append(
            {"text": "She did not make two bowls", "items": [2]}
        ),
        "denies something",
    ),
    "counts": (_says("She never sold her pottery in Lima of three markets"), "says 3"),
    "names another day": (
        _says("She showed her pottery at the market on 9 May 2026, and never sold it in Lima"),
        "names the day",
    ),
    "names somebody": (
        _says("She showed Bob her pottery at the winter market, and never sold it in Lima"),
        "names Bob",
    ),
    "invents": (
        _says("She never sold her pottery, dreams of a studio and teaches children painting"),
        "which none of its items says",
    ),
    "tells of another change": (
        lambda given: given["sentences"].append({"text": "She moved to Oslo", "items": [1]}),
        "says moved",
    ),
    "deletes": (
        lambda given: given.update(
            items=[{"item": number, "decision": "chatter"} for number in range(1, 6)],
            sentences=[],
        ),
        "leaves out every item",
    ),
    "answers in another form": (lambda given: given.update(items="none"), "malformed"),
}


@pytest.mark.parametrize("wrong", list(WRONG))
def test_9_a_wrong_answer_changes_nothing_and_says_why(opened: OpenWriting, wrong: str) -> None:
    change, reason = WRONG[wrong]
    memory, _ = opened(writes(change))
    tell(memory, *POTTERY)
    before = pottery(memory)
    report = memory.write_observations()
    assert (report.accepted, report.rejected) == (0, 1)
    after = pottery(memory)
    assert (after.id, after.text, after.items) == (before.id, before.text, before.items)
    assert reason in (after.blocked_reason or "")
    assert any(reason in step.description for step in memory.why(after.id).steps)
    assert memory.verify().ok


@pytest.mark.parametrize(
    "reply",
    [
        say("I would rather not."),
        say("", ("write_observation", "{")),
        say("", ("forget_everything", {})),
        say("", ("write_observation", answer()), ("write_observation", answer())),
    ],
)
def test_9_nonsense_and_refusals_change_nothing(opened: OpenWriting, reply: Reply) -> None:
    memory, server = opened(lambda body: reply)
    tell(memory, *POTTERY)
    before = pottery(memory)
    assert memory.write_observations().rejected == 1
    after = pottery(memory)
    assert after.text == before.text
    assert "write_observation" in (after.blocked_reason or "")
    # What was refused is not asked again until something changes.
    assert memory.write_observations().pending == 0
    assert len(server.questions) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (say("Well, ", finish="length"), "was cut off before it called a tool"),
        (
            Reply(b'{"error": {"message": "bowls are not allowed here"}}', status=400),
            "rejected the prompt (400)",
        ),
    ],
)
def test_an_observation_without_a_usable_answer_is_paid_for_once(
    opened: OpenWriting, reply: Reply, reason: str
) -> None:
    memory, server = opened(lambda body: reply)
    tell(memory, *POTTERY)
    before = pottery(memory).text
    assert memory.write_observations().rejected == 1
    assert (pottery(memory).text, pottery(memory).model) == (before, None)
    assert reason in (pottery(memory).blocked_reason or "")
    # A service may quote what it was sent.
    assert "bowls" not in (pottery(memory).blocked_reason or "")
    assert memory.write_observations().calls == 0
    assert len(server.questions) == 1
    memory.rebuild("derive")
    assert memory.write_observations().calls == 0
    server.script = writes()
    tell(memory, "I sold my pottery wheel.", "Nice weather.", first=11)
    assert memory.write_observations().calls == 1
    assert memory.verify().ok


def test_9_an_item_that_is_no_longer_so_is_said_as_past(opened: OpenWriting) -> None:
    def script(body: Body) -> Reply:
        items = data_in(body)["items"]
        given = [{"item": each["item"], "decision": "new"} for each in items]
        texts = [each["text"].split(" (said")[0] for each in items]
        sentences = [
            {"text": text.removeprefix("(no longer so; "), "items": [number]}
            for number, text in enumerate(texts, 1)
        ]
        return say("", ("write_observation", {"items": given, "sentences": sentences}))

    memory, _ = opened(script)
    tell(memory, *POTTERY)
    memory.retract("m1")
    tell(memory, "I like my pottery.", "I paint pottery.", first=11)
    report = memory.write_observations()
    assert report.processed == 1
    assert "Oslo" not in pottery(memory).text or report.rejected == 1


def test_a_home_of_rules_has_no_model_to_ask(tmp_path: Any) -> None:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Memory(tmp_path / "home") as memory:
        tell(memory, *POTTERY)
        with pytest.raises(InvalidInput, match="init --writer model"):
            memory.write_observations()
