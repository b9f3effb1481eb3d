"""The slot values, days and retractions that a model gives, and what of them is refused."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from recollect.operations.writing import writing
from recollect.streams.writing import model_loop
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, Reply, Script, say
from tests.writing.scripts import message_of, results_of
from tests.writing.test_model_facts import Call, current, of, rebuilt_alike
from tests.writing.test_writing import facts, held

pytestmark = pytest.mark.usefixtures("nothing_salient")

SETTLED = "We've finally settled in Ghent."
SETTLED_FACT = "Ada and others settled in Ghent."


def stated(text: str, evidence: str, **more: Any) -> Call:
    return "insert_fact", {"text": text, "metadata": {"evidence": evidence}} | more


def home(place: str, who: str = "Ada", **more: Any) -> dict[str, Any]:
    return {"subject": who, "attribute": "home", "value": place} | more


def answering(answers: dict[str, Sequence[Call]]) -> Script:
    """Return a script that answers each message that holds a key with calls, in one round."""

    def script(body: Body) -> Reply:
        words = message_of(body)["content"]
        calls = next((calls for key, calls in answers.items() if key in words), ())
        return say("nothing") if results_of(body) or not calls else say("", *calls)

    return script


def tell(memory: Memory, *said: tuple[int, str, str], peer: str = "c", start: int = 0) -> None:
    """Put (day of May, sender, words) into a conversation, in this order."""
    report = memory.ingest(
        [
            {
                "platform": "chat",
                "id": f"{peer}{place}",
                "sender_id": who.lower(),
                "sender_name": who,
                "peer_id": peer,
                "thread_id": peer,
                "occurred_at": f"2026-05-{day:02d}T13:00:00Z",
                "content": words,
            }
            for place, (day, who, words) in enumerate(said, start)
        ]
    )
    assert not report.rejections


def slots(memory: Memory, attribute: str = "home") -> list[tuple[str, str, bool]]:
    """Return (subject, value, whether it is current) of an attribute's facts, sorted."""
    return sorted(
        (each.subject or "", each.value or "", each.current)
        for each in memory.facts(superseded=True)
        if each.attribute == attribute
    )


# Slots


def test_a_model_fills_a_slot_that_the_rules_did_not_read(opened: OpenWriting) -> None:
    said = "By trade I'm a cooper."
    call = stated(
        "Ada is a cooper by trade.", said, subject="Ada", attribute="role", value="cooper"
    )
    memory, _ = opened(of("trade", [call]))
    tell(memory, (1, "Ada", said))
    assert slots(memory, "role") == []
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), report.reasons
    assert slots(memory, "role") == [("Ada", "cooper", True)]
    assert rebuilt_alike(memory)


def test_a_value_supersedes_over_threads_by_when_it_was_said(opened: OpenWriting) -> None:
    """G8: the messages of a model's value and of the rules' come in any order."""
    call = stated(SETTLED_FACT, SETTLED, **home("Ghent"))
    for days, value in (((1, 9), "Ghent"), ((9, 1), "Berlin")):
        for model_first in (False, True):
            memory, _ = opened(of("settled", [call]))
            rules = (days[0], "Ada", "I live in Berlin.")
            model = (days[1], "Ada", SETTLED)
            for place, each in enumerate((model, rules) if model_first else (rules, model)):
                tell(memory, each, peer=f"c{place}")
                memory.write()
            assert [one[1] for one in slots(memory) if one[2]] == [value]
            assert len(slots(memory)) == 2
            assert rebuilt_alike(memory)


def test_a_value_said_again_is_an_occasion_of_the_first(opened: OpenWriting) -> None:
    call = stated("Ada settled in Ghent.", "settled in Ghent", **home("Ghent"))
    memory, _ = opened(of("settled", [call]))
    tell(memory, (1, "Ada", "I live in Ghent."))
    tell(memory, (9, "Ada", SETTLED), peer="d")
    report = memory.write()
    assert (report.accepted, report.duplicates) == (0, 1), report.reasons
    (fact,) = memory.facts()
    assert fact.said.count == 2
    assert rebuilt_alike(memory)
    memory.forget("d0")
    (fact,) = memory.facts()
    assert fact.said.count == 1
    assert memory.verify().ok


def test_a_fact_of_the_rules_gets_the_value_that_it_lacks(
    opened: OpenWriting, salient_only: Any
) -> None:
    salient_only("cooper")
    said = "I trained as a cooper in Cork."
    call = stated(
        "Ada trained as a cooper in Cork.", said, subject="Ada", attribute="skill", value="cooper"
    )
    memory, _ = opened(of("cooper", [call]))
    tell(memory, (1, "Ada", said))
    (before,) = memory.facts()
    assert before.attribute is None
    report = memory.write()
    assert (report.accepted, report.duplicates) == (0, 1), report.reasons
    (fact,) = memory.facts()
    assert (fact.id, fact.text) == (before.id, before.text)
    assert (fact.subject, fact.attribute, fact.value) == ("Ada", "skill", "cooper")
    assert rebuilt_alike(memory)


def test_each_value_has_a_fact_of_its_own(opened: OpenWriting, salient_only: Any) -> None:
    """A known fact that has another value, or not the words, takes no further one."""
    salient_only("piano")
    said = "I moved to Turin with my old piano, at 31, as a piano tuner."
    memory, _ = opened(
        of(
            "piano",
            [
                stated(
                    "Ada is a piano tuner.", said, subject="Ada", attribute="role", value="tuner"
                ),
                stated("Ada is 31.", said, subject="Ada", attribute="age", value="31"),
                stated(
                    "Ada moved with her old piano.",
                    said,
                    subject="Ada",
                    attribute="possession",
                    value="piano",
                ),
            ],
        )
    )
    tell(memory, (1, "Ada", said))
    before = held(memory)
    report = memory.write()
    assert report.rejected == 0, report.reasons
    found = {each.attribute: each for each in memory.facts() if each.attribute}
    assert {"home", "role", "age", "possession"} <= found.keys()
    for attribute in ("role", "age", "possession"):
        assert (found[attribute].value or "") in found[attribute].text
    after = {fact["id"]: fact for fact in held(memory)}
    assert all(after[fact["id"]]["value"] == fact["value"] for fact in before if fact["value"])
    assert rebuilt_alike(memory)


def test_a_sentence_that_the_rules_can_read_needs_no_slot_of_its_own(opened: OpenWriting) -> None:
    memory, _ = opened(of("settled", [stated("Ada lives in Ghent.", SETTLED)]))
    tell(memory, (1, "Ada", "I live in Berlin."), (9, "Ada", f"{SETTLED} My people live there."))
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), report.reasons
    assert slots(memory) == [("Ada", "Berlin", False), ("Ada", "Ghent", True)]


def test_a_value_of_merged_persons_is_ordered_until_the_merge_is_undone(
    opened: OpenWriting,
) -> None:
    call = stated("Ada settled in Ghent.", SETTLED, **home("Ghent"))
    memory, _ = opened(of("settled", [call]))
    tell(memory, (1, "Adele", "I live in Berlin."), (9, "Ada", SETTLED))
    memory.write()
    both = [("Ada", "Ghent", True), ("Adele", "Berlin", True)]
    assert slots(memory) == both
    ids = {each.name: each.id for each in memory.entities()}
    memory.propose_merge(ids["Ada"], ids["Adele"], 0.95, "one person")
    assert [one[1] for one in slots(memory) if one[2]] == ["Ghent"]
    assert rebuilt_alike(memory)
    (merge,) = (each for each in memory.merges(status="merged") if "one person" in each.reasons)
    memory.decide_merge(merge.id, "undone")
    assert slots(memory) == both
    assert rebuilt_alike(memory)


def test_a_value_of_somebody_else_is_ordered_with_what_they_say(opened: OpenWriting) -> None:
    said = "Ann has settled in Ghent."
    memory, _ = opened(of("settled", [stated(said, said, **home("Ghent", "Ann"))]))
    tell(memory, (1, "Ada", said))
    memory.write()
    assert slots(memory) == [("Ann", "Ghent", True)]
    (fact,) = memory.facts()
    assert "Ann" in fact.entities
    tell(memory, (9, "Ada", "Ann lives in Oslo."), start=1)
    assert slots(memory) == [("Ann", "Ghent", False), ("Ann", "Oslo", True)]
    assert rebuilt_alike(memory)


def test_an_answer_takes_its_value_from_the_question(opened: OpenWriting) -> None:
    said = "Yes, and I love the canals."
    call = stated("Ada lives in Ghent and loves the canals.", said, **home("Ghent"))
    memory, _ = opened(of("canals", [call]))
    tell(memory, (1, "Bob", "Do you live in Ghent now?"), (1, "Ada", said))
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), report.reasons
    assert slots(memory) == [("Ada", "Ghent", True)]
    memory.forget("c0")
    assert slots(memory) == []
    assert files_holding(memory.home.directory, b"Ghent", b"ghent") == []


def test_a_dislike_is_the_opposite_of_a_like(opened: OpenWriting) -> None:
    old, new = "Olives are my thing.", "Olives are not for me now."
    olives = {"subject": "Ada", "attribute": "likes", "value": "olives"}
    memory, _ = opened(
        answering(
            {
                "thing": [stated("Ada's thing is olives.", old, **olives)],
                "not for": [
                    stated("Ada has no place for olives now.", new, **olives, polarity="negative")
                ],
            }
        )
    )
    tell(memory, (1, "Ada", old), (9, "Ada", new))
    report = memory.write()
    assert report.rejected == 0, report.reasons
    assert slots(memory, "likes") == [("Ada", "olives", False)]
    assert slots(memory, "dislikes") == [("Ada", "olives", True)]


BERLIN = "I live in Berlin."
#: What a model says of SETTLED after BERLIN -> the reason for which it is refused.
REFUSED: dict[str, tuple[Call, str]] = {
    "unknown attribute": (
        stated(SETTLED_FACT, SETTLED, **home("Ghent", attribute="hue")),
        "attribute",
    ),
    "no attribute": (stated(SETTLED_FACT, SETTLED, value="Ghent"), "form"),
    "value of another kind": (stated(SETTLED_FACT, SETTLED, **home("Ghent", value=["x"])), "form"),
    "value that was not said": (stated(SETTLED_FACT, SETTLED, **home("Bruges")), "value"),
    "value of somebody else": (
        stated("Ada settled in Oslo.", SETTLED, **home("Oslo")),
        "value",
    ),
    "half a word": (stated(SETTLED_FACT, SETTLED, **home("Ghe")), "value"),
    "endless value": (stated(SETTLED_FACT, SETTLED, **home("Ghent " * 40)), "value"),
    "nobody": (stated(SETTLED_FACT, SETTLED, **home("Ghent", "Mallory")), "subject"),
    "another subject": (stated(SETTLED_FACT, SETTLED, **home("Ghent", "Bob")), "subject"),
    "unknown polarity": (
        stated(SETTLED_FACT, SETTLED, **home("Ghent", polarity="perhaps")),
        "polarity",
    ),
    "denied without a denial": (
        stated(SETTLED_FACT, SETTLED, **home("Ghent", polarity="negative")),
        "polarity",
    ),
    "ended where it holds": (
        stated("Ada lives in Ghent.", SETTLED, **home("Ghent", polarity="ended")),
        "polarity",
    ),
    "other value than the sentence has": (
        stated("Ada lives in Ghent, Berlin is over.", SETTLED, **home("Berlin")),
        "slot",
    ),
    "unknown fact": (
        stated(SETTLED_FACT, SETTLED, retracts="01HZZZZZZZZZZZZZZZZZZZZZZZ"),
        "retracts",
    ),
    "words that nobody said": (
        stated(SETTLED_FACT, SETTLED, retracts="I live in Mallory"),
        "retracts",
    ),
    "no end was said": (stated(SETTLED_FACT, SETTLED, retracts=BERLIN), "retracts"),
    "days that were not said": (
        stated(SETTLED_FACT, SETTLED, days={"first": "2026-05-10"}),
        "days",
    ),
    "no day": (stated(SETTLED_FACT, SETTLED, days={"first": "soon"}), "days"),
    "days of another kind": (stated(SETTLED_FACT, SETTLED, days="2026-05-10"), "form"),
    "days in nobody's words": (
        stated(SETTLED_FACT, SETTLED, days={"first": "2026-05-10", "words": "on 10 May"}),
        "days",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_contradicts_the_words_is_refused_and_counted(opened: OpenWriting, kind: str) -> None:
    call, reason = REFUSED[kind]
    memory, _ = opened(of("settled", [call]))
    tell(memory, (1, "Ada", BERLIN), (8, "Bob", "Oslo is cold."), (9, "Ada", SETTLED))
    before = held(memory)
    report = memory.write()
    assert report.reasons == {reason: 1}
    assert [fact for fact in held(memory) if fact in before] == before
    assert rebuilt_alike(memory)


def test_a_model_cannot_contradict_what_the_rules_read_in_the_same_message(
    opened: OpenWriting,
) -> None:
    said = "I live in Berlin. Ghent is nicer than Berlin."
    memory, _ = opened(
        of(
            "Ghent",
            [
                stated("Ada finds Ghent nicer than Berlin.", said, **home("Ghent")),
                stated("Ada left Berlin.", said, **home("Berlin", polarity="ended")),
            ],
        )
    )
    tell(memory, (1, "Ada", said))
    before = held(memory)
    report = memory.write()
    assert report.reasons["slot"] >= 1
    assert report.accepted == 0
    assert held(memory) == before


@pytest.mark.parametrize("who", ["Ada", "Bob"])
def test_quoted_words_are_not_the_senders_own(opened: OpenWriting, who: str) -> None:
    said = 'Bob wrote: "I have settled in Ghent." How nice.'
    call = stated(f"{who} has settled in Ghent.", "I have settled in Ghent", **home("Ghent", who))
    memory, _ = opened(of("settled", [call]))
    tell(memory, (1, "Ada", said))
    report = memory.write()
    assert report.reasons == ({"voice": 1} if who == "Ada" else {})
    assert ("Ada", "Ghent", True) not in slots(memory)


# Ends and retractions


def test_the_end_of_a_value_ends_its_fact(opened: OpenWriting) -> None:
    said = "Handed in my badge at Shell for good."
    works = {"subject": "Ada", "attribute": "employer", "value": "Shell"}
    memory, _ = opened(
        answering(
            {
                "canteen": [
                    stated("Ada is employed at Shell.", "Shell's canteen pays me", **works)
                ],
                "badge": [
                    stated("Ada handed in her badge at Shell.", said, **works, polarity="ended")
                ],
            }
        )
    )
    tell(memory, (1, "Ada", "Shell's canteen pays me now that I am employed."))
    tell(memory, (9, "Ada", said), peer="d")
    report = memory.write()
    assert report.rejected == 0, report.reasons
    assert slots(memory, "employer") == [("Ada", "Shell", False)]
    (ending,) = current(memory, "badge")
    assert rebuilt_alike(memory)
    # What a model ended is undone like anything else.
    memory.retract(ending.id)
    assert slots(memory, "employer") == [("Ada", "Shell", True)]
    memory.retract(ending.id, restore=True)
    assert slots(memory, "employer") == [("Ada", "Shell", False)]
    assert rebuilt_alike(memory)
    memory.forget("d0")
    assert slots(memory, "employer") == [("Ada", "Shell", True)]
    assert rebuilt_alike(memory)


def test_a_value_stated_since_outlives_its_end(opened: OpenWriting) -> None:
    """G8: a late message ends nothing that was said after it."""
    said = "Berlin is over for me."
    call = stated("Ada said that Berlin is over.", said, **home("Berlin", polarity="ended"))
    memory, _ = opened(of("over", [call]))
    tell(memory, (9, "Ada", BERLIN))
    tell(memory, (1, "Ada", said), peer="d")
    memory.write()
    assert slots(memory) == [("Ada", "Berlin", True)]


PIANO, NOT_SOLD = "The piano goes to Bob.", "Forget that, the piano does not go to Bob."
PIANO_FACT, NOT_SOLD_FACT = "The piano goes to Bob.", "The piano does not go to Bob."


@pytest.mark.parametrize("by", ["quotation", "id"])
def test_what_a_message_takes_back_is_retracted(opened: OpenWriting, by: str) -> None:
    def take_back(results: Sequence[dict[str, Any]]) -> list[Call]:
        shown = [each["id"] for each in results[0]["results"] if each["text"] == PIANO_FACT]
        retracts = "the piano goes to bob" if by == "quotation" else shown[0]
        return [stated(NOT_SOLD_FACT, NOT_SOLD, retracts=retracts)]

    look = "recall", {"query": "piano Bob", "params": {"scope": ["facts"]}}
    undo = of("does not", [look], take_back)
    sell = of("goes to", [stated(PIANO_FACT, PIANO)])
    memory, _ = opened(
        lambda body: (undo if "does not" in message_of(body)["content"] else sell)(body),
        concurrency=1,
    )
    tell(memory, (1, "Ada", PIANO))
    assert memory.write().accepted == 1
    tell(memory, (2, "Ada", NOT_SOLD), start=1)
    before = facts(memory)
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), (report.reasons, before)
    assert not [each for each in memory.facts() if each.text == PIANO_FACT]
    (gone,) = [each for each in memory.facts(superseded=True) if each.text == PIANO_FACT]
    assert not gone.current
    assert rebuilt_alike(memory)
    memory.forget("c1")
    assert [each.id for each in memory.facts() if each.text == PIANO_FACT] == [gone.id]
    assert memory.verify().ok


def test_a_retraction_of_something_else_ends_nothing(opened: OpenWriting) -> None:
    """F3: of another subject, of a value that still holds, or of what it was not shown."""
    other: list[str] = []

    def hostile(body: Body) -> Reply:
        words = message_of(body)["content"]
        if results_of(body):
            return say("done")
        return say(
            "",
            *(
                stated(f"Ada does not drink tea number {n}.", words, retracts=each)
                for n, each in enumerate([*other, "I live in Berlin", "Bob lives"])
            ),
        )

    memory, _ = opened(hostile)
    tell(memory, (1, "Ada", BERLIN), (2, "Bob", "I live in Rome."))
    tell(memory, (3, "Ada", "I live on tea, my home is far."), peer="d")
    other += [each.id for each in memory.facts()]
    tell(memory, (9, "Ada", "I do not drink tea number 0, 1, 2, 3 or 4."), start=2)
    before = held(memory)
    report = memory.write()
    assert report.reasons["retracts"] >= 3
    assert [fact for fact in held(memory) if fact in before] == before


# Days


FERRY = "The ferry leaves on 12 May, the trip on foot begins the day after tomorrow."
FERRY_FACT = "The ferry leaves on 12 May."


@pytest.mark.parametrize(
    ("days", "wanted"),
    [
        ({"first": "2026-05-12"}, ("2026-05-12", "2026-05-12")),
        ({"first": "2026-05-12", "words": "on 12 May"}, ("2026-05-12", "2026-05-12")),
        ({"first": "2026-05-11", "last": "2026-05-12"}, None),
        ({"first": "2026-05-12", "words": "the day after tomorrow"}, None),
        ({"first": "2025-05-12"}, None),
        ({"first": "2026-05-12", "last": "2026-05-01"}, None),
    ],
)
def test_days_are_those_that_the_date_engine_reads(
    opened: OpenWriting, days: dict[str, str], wanted: tuple[str, str] | None
) -> None:
    memory, _ = opened(of("ferry", [stated(FERRY_FACT, "leaves on 12 May", days=days)]))
    tell(memory, (9, "Ada", FERRY))
    report = memory.write()
    assert report.reasons == ({} if wanted else {"days": 1})
    found = [(each.when.first, each.when.last) for each in current(memory, "ferry") if each.when]
    assert found == ([wanted] if wanted else [])
    assert rebuilt_alike(memory)


def test_where_no_day_is_said_a_fact_may_be_of_the_messages_own(opened: OpenWriting) -> None:
    call = stated(SETTLED_FACT, SETTLED, days={"first": "2026-05-09"})
    memory, _ = opened(of("settled", [call]))
    tell(memory, (9, "Ada", SETTLED))
    assert memory.write().accepted == 1
    (fact,) = current(memory, "settled")
    assert fact.when is not None
    assert (fact.when.first, fact.when.last) == ("2026-05-09", "2026-05-09")


def test_days_may_be_said_in_an_earlier_message(opened: OpenWriting) -> None:
    said = "The ferry leaves then."
    days = {"first": "2026-05-10", "words": "the day after tomorrow"}
    memory, _ = opened(of("ferry", [stated("The ferry leaves then from here.", said, days=days)]))
    tell(memory, (8, "Bob", "Shall we meet the day after tomorrow here?"), (9, "Ada", said))
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), report.reasons
    (fact,) = current(memory, "ferry")
    assert fact.when is not None
    # The day is counted from the message that says it.
    assert fact.when.first == "2026-05-10"
    assert rebuilt_alike(memory)
    memory.forget("c0")
    assert current(memory, "ferry") == []
    assert memory.verify().ok


# Recordings


def _story(memory: Memory) -> None:
    tell(memory, (1, "Ada", BERLIN), (9, "Ada", SETTLED), (10, "Ada", FERRY))


def _model(body: Body) -> Reply:
    return answering(
        {
            "settled": [stated(SETTLED_FACT, SETTLED, **home("Ghent"), retracts=BERLIN)],
            "ferry": [
                stated(SETTLED_FACT, FERRY, **home("Ghent")),
                stated(FERRY_FACT, FERRY, days={"first": "2026-05-12"}),
            ],
        }
    )(body)


def test_a_replay_of_slots_makes_no_call(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6."""
    memory, server = opened(_model)
    _story(memory)
    memory.write()
    before, asked = held(memory), len(server.questions)

    def shut(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", shut)
    for level in ("project", "derive"):
        memory.rebuild(level)
        assert held(memory) == before
        assert memory.verify().ok
    assert len(server.questions) == asked


def test_a_kill_after_the_recording_loses_no_slot_and_pays_once(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, server = opened(_model)
    _story(memory)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writing, "publish_commands", dies)
        with pytest.raises(KeyboardInterrupt):
            memory.write()
    assert slots(memory) == [("Ada", "Berlin", True)]
    asked = len(server.questions)
    assert memory.write().calls == 0
    assert len(server.questions) == asked
    assert slots(memory) == [("Ada", "Berlin", False), ("Ada", "Ghent", True)]
    assert memory.verify().ok


def test_answers_recorded_before_slots_are_decided_without_them(
    opened: OpenWriting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_loop, "CURRENT_RULES", 2)
    memory, server = opened(_model)
    _story(memory)
    memory.write()
    assert slots(memory) == [("Ada", "Berlin", True)]
    before, asked = held(memory), len(server.questions)
    monkeypatch.undo()
    memory.rebuild("derive")
    assert held(memory) == before
    assert len(server.questions) == asked


def _anything(chance: random.Random) -> Any:
    words = ["Ada", "Ghent", "Berlin", "home", "employer", "ended", "2026-05-12", "not", "\u202e"]
    kind = chance.randrange(6)
    if kind == 0:
        return chance.choice([None, True, -1, 2**70, [], {}])
    if kind == 1:
        return {key: _anything(chance) for key in ("first", "last", "words")}
    return " ".join(chance.choices(words, k=chance.randrange(1, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_a_random_model_leaves_the_rules_facts_in_the_history(
    opened: OpenWriting, seed: int
) -> None:
    """F3: whatever it gives, no fact is lost, and a rebuild decides the same."""
    chance = random.Random(seed)
    names = ("subject", "attribute", "value", "polarity", "days", "retracts")

    def script(body: Body) -> Reply:
        words = message_of(body)["content"]
        calls = [
            stated(
                chance.choice([words, "Ada lives in Ghent.", "Ada left Berlin.", SETTLED_FACT]),
                words,
                **{name: _anything(chance) for name in names if chance.random() < 0.6},
            )
            for _ in range(6)
        ]
        return say("", *calls)

    memory, _ = opened(script, rounds=2, concurrency=1)
    _story(memory)
    before = {fact["id"]: fact["text"] for fact in held(memory)}
    memory.write()
    after = {fact["id"]: fact["text"] for fact in held(memory)}
    assert before.keys() <= after.keys()
    assert json.dumps(after).count("\u202e") == 0
    assert rebuilt_alike(memory)
    memory.forget(f"c{seed % 3}")
    assert rebuilt_alike(memory)
