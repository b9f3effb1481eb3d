"""What becomes of a model's proposals: entities that it found, quotations, known facts, causes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from recollect.schemas.wire import Fact
from recollect.streams.writing import model_loop
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.conftest import OpenWriting
from tests.writing.model_server import Body, Reply, Script, say
from tests.writing.scripts import message_of, results_of
from tests.writing.test_writing import facts, held, say_all

Call = tuple[str, Any]
FERRY = "The ferry is on Mondays at Quayside Yard."


def fact(text: str, evidence: str) -> Call:
    return "insert_fact", {"text": text, "metadata": {"evidence": evidence}}


def looked_up(name: str) -> Call:
    return "recall", {"query": name, "params": {"scope": ["entities"]}}


def of(content: str, *rounds: Any) -> Script:
    """Return a script that works on one message, round by round; a round may use the results."""

    def script(body: Body) -> Reply:
        if content not in message_of(body)["content"]:
            return say("nothing")
        done = sum(message["role"] == "assistant" for message in body["messages"])
        if done == len(rounds):
            return say("done")
        calls = rounds[done]
        return say("", *(calls(results_of(body)) if callable(calls) else calls))

    return script


def current(memory: Memory, *words: str) -> list[Fact]:
    return [each for each in memory.facts() if all(word in each.text for word in words)]


def rebuilt_alike(memory: Memory) -> bool:
    before = held(memory)
    memory.rebuild("derive")
    return held(memory) == before and memory.verify().ok


# Fault 28


def test_a_model_finds_the_entities_that_there_are(opened: OpenWriting) -> None:
    """Fault 28: by any of their names, each with its id."""
    found: list[Any] = []

    def keep(results: Sequence[dict[str, Any]]) -> list[Call]:
        found.extend(each["results"] for each in results)
        return []

    names = ("Ada", "Quayside Yard", "Ann", "Nobody Known")
    memory, _ = opened(of("ferry", [looked_up(name) for name in names], keep))
    say_all(memory, "My sister Ann breeds alpacas at Quayside Yard.", FERRY)
    memory.write()
    known = {each.name: each.id for each in memory.entities()}
    ada, yard, ann, nobody = found
    assert [each["id"] for each in ada] == [known["Ada"]]
    assert [each["id"] for each in yard] == [known["Quayside Yard"]]
    assert [(each["id"], each["text"]) for each in ann] == [(known["Ann"], "Ann (person)")]
    assert nobody == []


@pytest.mark.usefixtures("nothing_salient")
def test_a_fact_is_linked_to_an_entity_that_was_found(opened: OpenWriting) -> None:
    """Fault 28: also by the name of a handle that was merged."""
    memory, _ = opened(
        of(
            "ferry",
            [looked_up("Quayside Yard"), looked_up("Ann"), fact(FERRY, FERRY)],
            lambda results: [
                (
                    "link_fact_entity",
                    {
                        "fact_id": results[2]["fact_id"],
                        "entity_id": results[0]["results"][0]["id"],
                    },
                )
            ],
        )
    )
    say_all(memory, "My sister Ann works at Quayside Yard.", FERRY)
    before = sorted(each.id for each in memory.entities())
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0)
    (written,) = current(memory, "ferry")
    assert "Quayside Yard" in written.entities
    assert sorted(each.id for each in memory.entities()) == before
    assert rebuilt_alike(memory)


def test_an_entity_is_shown_by_names_that_its_sources_tell(opened: OpenWriting) -> None:
    """Fault 28: when a source is forgotten, no answer repeats its names."""
    shown: list[str] = []

    def keep(results: Sequence[dict[str, Any]]) -> list[Call]:
        shown.extend(each["text"] for result in results for each in result["results"])
        return [fact(TEXT, SAID)]

    memory, _ = opened(of("ferry", [looked_up("Zyzzyva")], keep), context=0)
    say_all(memory, "My sister is Zyzzyva Quill.", "I like tea.", SAID)
    memory.write()
    assert len(current(memory, TEXT)) == 1
    assert any("Zyzzyva" in text for text in shown)
    memory.forget("m0")
    assert current(memory, TEXT) == []
    memory.write()
    assert len(current(memory, TEXT)) == 1
    assert files_holding(memory.home.directory, b"Zyzzyva", b"zyzzyva") == []


def test_a_merge_of_entities_that_were_found_waits_for_review(opened: OpenWriting) -> None:
    """Fault 28."""
    memory, _ = opened(
        of(
            "ferry",
            [looked_up("Mel Torres"), looked_up("Melanie Torres")],
            lambda results: [
                (
                    "propose_merge",
                    {
                        "entity_a_id": results[0]["results"][0]["id"],
                        "entity_b_id": results[1]["results"][0]["id"],
                        "confidence": 0.9,
                        "reason": "they have one birthday",
                    },
                )
            ],
        )
    )
    say_all(memory, ("Mel Torres", "I like tea."), ("Melanie Torres", "I like rye."), FERRY)
    report = memory.write()
    assert report.rejected == 0
    (merge,) = [each for each in memory.merges() if "one birthday" in str(each.reasons)]
    assert merge.status == "pending"
    assert {merge.a, merge.b} == {"Mel Torres", "Melanie Torres"}
    assert memory.verify().ok


def test_a_fact_of_another_conversation_may_be_a_cause(
    opened: OpenWriting, salient_only: Callable[[str], None]
) -> None:
    """Fault 28."""
    salient_only("leg")

    def link(results: Sequence[dict[str, Any]]) -> list[Call]:
        (leg,) = [each for each in results[0]["results"] if each["type"] == "fact"]
        ends = {"from_fact_id": leg["id"], "to_fact_id": results[1]["fact_id"], "strength": 0.6}
        return [("insert_causal_link", ends)]

    memory, _ = opened(
        of(
            "ferry",
            [
                ("recall", {"query": "broke leg", "params": {"scope": ["facts"]}}),
                fact(FERRY, FERRY),
            ],
            link,
        ),
        context=0,
    )
    say_all(memory, "I broke my leg in Lech.", FERRY)
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0)
    assert _causes(memory) == [("Ada broke Ada's leg in Lech.", FERRY)]
    assert rebuilt_alike(memory)


def _causes(memory: Memory) -> list[tuple[str, str]]:
    texts = {each.id: each.text for each in memory.facts()}
    with memory._zone.files() as files:
        links = files.memory.connection.execute(
            "SELECT from_fact_id, to_fact_id FROM causal_links ORDER BY 1, 2"
        ).fetchall()
    return [(texts[cause], texts[effect]) for cause, effect in links]


# Fault 31

SAID = "The ferry’s on Mondays — the “Zoë’s Folly”, at Quayside Yard…"
#: More than the rules conclude, which would make it a duplicate.
TEXT = "On Mondays the ferry at Quayside Yard is a ferry called Zoë's Folly."
QUOTATIONS = {
    "straight marks": "The ferry's on Mondays - the \"Zoë's Folly\", at Quayside Yard...",
    "other marks": "The ferry`s on Mondays – the «Zoë\u00b4s Folly», at Quayside Yard",
    "decomposed": unicodedata.normalize("NFD", SAID),
    "without accents": "the “Zoe’s Folly”",
    "in marks of its own": f'"{SAID}"',
    "with dots": "...at Quayside Yard...",
    "capitals": "THE “ZOË’S FOLLY”, AT QUAYSIDE YARD",
    "blanks": "The ferry’s  on\u00a0Mondays —\nthe",
    "invisible": "The ferry’s\u200b on Mon\u00addays",
    "full width": "at \uff31uays\uff49de Yard",
}


@pytest.mark.parametrize("form", QUOTATIONS)
@pytest.mark.parametrize("said", ["NFC", "NFD"])
def test_a_quotation_in_another_form_is_evidence(opened: OpenWriting, form: str, said: Any) -> None:
    """Fault 31."""
    message = unicodedata.normalize(said, SAID)
    memory, _ = opened(of("ferry", [fact(TEXT, QUOTATIONS[form])]))
    say_all(memory, message)
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 0), report.reasons
    (written,) = [each for each in memory.facts() if each.text == TEXT]
    quoted = memory.why(written.id).steps[0].details[0]
    assert quoted in message
    assert len(quoted) > 8


@pytest.mark.parametrize(
    "evidence",
    ["The ferry's late", "Zoo's Folly", "...", "", "“”", "-", "the Zoë's Folly is not at"],
)
def test_other_words_are_no_evidence(opened: OpenWriting, evidence: str) -> None:
    """Fault 31."""
    memory, _ = opened(of("ferry", [fact(TEXT, evidence)]))
    say_all(memory, SAID)
    assert memory.write().reasons == {"evidence": 1}


@pytest.mark.usefixtures("nothing_salient")
def test_evidence_may_stand_beside_the_metadata(opened: OpenWriting) -> None:
    """Fault 31."""
    call = "insert_fact", {"text": FERRY, "evidence": FERRY}
    memory, _ = opened(of("ferry", [call]))
    say_all(memory, FERRY)
    assert memory.write().accepted == 1


def test_a_name_may_have_another_form(opened: OpenWriting) -> None:
    """Fault 31: that of a composed accent."""
    decomposed = unicodedata.normalize("NFD", "Zoë Brûlé")
    memory, _ = opened(
        of(
            "ferry",
            [
                fact("Zoë Brûlé runs the ferry at Quayside Yard.", "runs the ferry"),
                ("create_entity", {"name": "Zoë Brûlé", "type": "person"}),
            ],
        )
    )
    say_all(memory, f"{decomposed} runs the ferry at Quayside Yard, right?")
    report = memory.write()
    assert report.rejected == 0, report.reasons


# Fault 32

RAW = {
    "so basically yeah we moved the standup to 9:30 lol": (
        "Ada and others moved the standup to 9:30."
    ),
    "ok so um I kinda broke my leg skiing in Chamonix haha": (
        "Ada broke her leg skiing in Chamonix."
    ),
    "ugh my landlord is raising the rent again to 1200 euros!!!": (
        "Ada's landlord is raising the rent to 1200 euros."
    ),
    "yeah no I don't eat meat anymore": "Ada doesn't eat meat anymore.",
    "anyways yeah my brother Tom is moving to Cork in June lol": (
        "Ada's brother Tom is moving to Cork in June."
    ),
    "hey so I finally bought the Volvo for 4500 euros yay": (
        "Ada bought the Volvo for 4500 euros."
    ),
    "omg we adopted two kittens, Miso and Tofu!!!": (
        "Ada and others adopted two kittens, Miso and Tofu."
    ),
    "tbh the new office in Graz is way too loud imo": "The new office in Graz is too loud.",
}


@pytest.mark.parametrize("message", RAW)
def test_a_clean_sentence_takes_the_place_of_a_raw_one(opened: OpenWriting, message: str) -> None:
    """Fault 32: the fact keeps its id."""
    clean = RAW[message]
    memory, _ = opened(of(message, [fact(clean, message)]))
    say_all(memory, message)
    (raw,) = memory.facts()
    assert raw.text != clean
    report = memory.write()
    assert (report.accepted, report.duplicates, report.rejected) == (0, 1, 0), report.reasons
    (found,) = memory.facts(superseded=True)
    assert (found.id, found.text, found.source_event_ids) == (raw.id, clean, ["m0"])
    assert "scripted" in memory.why(found.id).steps[0].description
    assert rebuilt_alike(memory)
    assert [each.text for each in memory.recall(message).results if each.type == "fact"] in (
        [],
        [clean],
    )


@pytest.mark.parametrize(
    ("message", "worse"),
    [
        ("I moved to Turin in May because of my job at Fiat.", "Ada moved to Turin."),
        ("My sister Ann is a nurse in Graz.", "Ada's sister Ann is a nurse."),
        ("yeah basically Bob owes Carla 20 euros lol", "Carla owes Bob 20 euros."),
        ("I like oolong tea.", "Ada likes oolong tea."),
        ("I met Bob Carver at work.", "Ada met Bob Carver."),
    ],
)
def test_a_fact_of_the_rules_keeps_its_text_where_no_other_is_better(
    opened: OpenWriting, message: str, worse: str
) -> None:
    """Fault 32."""
    memory, _ = opened(of(message, [fact(worse, message)]))
    say_all(memory, message)
    before = held(memory)
    memory.write()
    assert held(memory) == before


def test_a_part_of_a_raw_sentence_stands_beside_it(opened: OpenWriting) -> None:
    """Fault 32: nothing of the raw one is lost."""
    message = "ok so um I broke my leg skiing in Chamonix and Ann sold her piano in Graz haha"
    clean = "Ann sold her piano in Graz."
    memory, _ = opened(of(message, [fact(clean, message)]))
    say_all(memory, message)
    before = set(facts(memory))
    memory.write()
    assert set(facts(memory)) == before | {clean}


def test_a_longer_name_makes_no_second_fact(opened: OpenWriting) -> None:
    """Fault 32."""
    memory, _ = opened(
        of("sold", [fact("Ann sold her piano to Bob Carver.", "Ann sold her piano to Bob")])
    )
    say_all(memory, "I met Bob Carver.", "Ann sold her piano to Bob.")
    before = len(memory.facts())
    memory.write()
    assert len(memory.facts()) == before
    assert len(current(memory, "piano")) == 1
    assert len(current(memory, "piano", "Carver")) == 1
    memory.forget("m0")
    memory.write()
    assert current(memory, "piano", "Carver") == []
    assert len(current(memory, "piano")) == 1
    assert memory.verify().ok


def test_a_statement_that_the_rules_took_for_a_repeat_is_one_for_a_model(
    opened: OpenWriting,
) -> None:
    """Fault 32."""
    memory, _ = opened(of("oolong", [fact("Ada likes oolong tea.", "I like oolong tea")]))
    say_all(memory, "I like oolong tea.", "I like oolong tea.")
    memory.write()
    assert len(current(memory, "oolong")) == 1


def test_a_sentence_that_a_model_writes_again_is_one_fact(opened: OpenWriting) -> None:
    """Fault 51: it is said as often as messages say it, and goes with the last of them."""
    memory, _ = opened(of("ferry", [fact(FERRY, FERRY)]))
    say_all(memory, FERRY, "My sister Ann breeds alpacas.", FERRY)
    memory.write()
    (written,) = current(memory, "ferry")
    assert written.said.count == len(written.source_event_ids) == 2
    assert rebuilt_alike(memory)
    for source in written.source_event_ids:
        # What a model wrote with a forgotten message in view is asked for again.
        memory.write()
        (left,) = current(memory, "ferry")
        assert source in left.source_event_ids
        memory.forget(source)
    assert current(memory, "ferry") == []
    assert memory.verify().ok


def test_a_cause_that_is_known_is_linked(opened: OpenWriting) -> None:
    """Fault 32."""
    message = "I broke my leg in Lech.\n\nThe ferry is on Mondays at Quayside Yard."
    memory, _ = opened(
        of(
            "ferry",
            [fact("Ada broke her leg in Lech.", message), fact(FERRY, FERRY)],
            lambda results: [
                (
                    "insert_causal_link",
                    {
                        "from_fact_id": results[0]["fact_id"],
                        "to_fact_id": results[1]["fact_id"],
                        "strength": 0.5,
                    },
                )
            ],
        )
    )
    say_all(memory, message)
    known = [each.text for each in current(memory, "leg")]
    report = memory.write()
    assert report.rejected == 0, report.reasons
    assert [cause for cause, _ in _causes(memory)] == known
    assert rebuilt_alike(memory)


def test_what_reworded_a_fact_is_undone_when_its_sources_go(opened: OpenWriting) -> None:
    """Fault 32: the fact has its raw text again, and the message is read again."""
    message, clean = next(iter(RAW.items()))
    seen: list[str] = []

    def script(body: Body) -> Reply:
        seen.append(json.dumps(body))
        return of(message, [fact(clean, message)])(body)

    memory, _ = opened(script)
    say_all(memory, "The safe of Oleander has the code 4711.", message)
    (raw,) = current(memory, "standup")
    memory.write()
    assert [each.text for each in current(memory, "standup")] == [clean]
    memory.forget("m0")
    assert current(memory, "standup") == [raw]
    assert memory.verify().ok
    memory.rebuild("derive")
    assert current(memory, "standup") == [raw]
    memory.write()
    assert [each.text for each in current(memory, "standup")] == [clean]
    assert memory.verify().ok
    memory.forget("m1")
    assert files_holding(memory.home.directory, b"standup", b"Oleander") == []
    assert memory.verify().ok


def test_a_reworded_fact_is_still_corrected(opened: OpenWriting) -> None:
    """Fault 32."""
    message, clean = next(iter(RAW.items()))
    memory, _ = opened(of(message, [fact(clean, message)]))
    say_all(memory, message)
    memory.write()
    memory.ingest(
        [
            {
                "platform": "chat",
                "id": "m0-deleted",
                "kind": "deletion",
                "target": "m0",
                "sender_id": "ada",
                "occurred_at": "2026-05-08T14:00:00Z",
                "content": "",
            }
        ]
    )
    assert list(memory.facts()) == []
    assert rebuilt_alike(memory)


# Old ledgers


def test_answers_of_old_ledgers_are_decided_as_they_were(
    opened: OpenWriting,
    monkeypatch: pytest.MonkeyPatch,
    salient_only: Callable[[str], None],
) -> None:
    """What the first rules refuse or leave out stays so, also when it is derived again."""
    salient_only("standup")
    monkeypatch.setattr(model_loop, "CURRENT_RULES", 1)
    (message, clean), *_ = RAW.items()
    answers = {
        message: [fact(clean, message)],
        SAID: [fact(TEXT, QUOTATIONS["straight marks"])],
        FERRY: [fact(FERRY, FERRY)],
    }

    def script(body: Body) -> Reply:
        return of("", answers[message_of(body)["content"]])(body)

    memory, server = opened(script)
    say_all(memory, *answers)
    before = facts(memory)
    report = memory.write()
    assert facts(memory) == sorted([*before, FERRY])
    assert report.reasons["evidence"] >= 1
    assert report.duplicates == 1
    asked = len(server.questions)
    monkeypatch.undo()
    assert rebuilt_alike(memory)
    assert len(server.questions) == asked


# Fault 49


def test_a_models_fact_has_the_days_that_were_decided_with_the_message(
    opened: OpenWriting,
) -> None:
    said = "The ferry leaves Quayside Yard on Saturday."
    memory, _ = opened(
        of(
            "ferry",
            [
                fact("Ada leaves on her ferry trip on Saturday.", said),
                fact("Ada leaves on her ferry trip on 9 May 2026.", said),
            ],
        )
    )
    say_all(memory, "My dinner with Ian is on Saturday 23 May.", said)
    report = memory.write()
    assert (report.accepted, report.rejected) == (1, 1)
    assert {(each.when and each.when.first) for each in current(memory, "ferry")} == {"2026-05-23"}
    assert current(memory, "trip")
    assert rebuilt_alike(memory)
