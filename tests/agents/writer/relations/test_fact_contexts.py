"""The context of a fact: a question, a subject line, or the statement that it corrects."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.schemas.changes import Fact
from recollect.schemas.events import Attachment, Deletion, Draft, Edit
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents import kit
from tests.agents.kit import HOUR, MINUTE, START, says
from tests.library.kit import said

ASKED = "How often do you all go to the climbing wall?"
ANSWER = "Three times a week; it keeps us fit in winter."
TASTING = "The tasting is on Friday 16 January in the red barn."
MEANT = "Sorry, I meant the 17th, not the 16th."


def contexts(*messages: Draft) -> dict[str, str | None]:
    """Return text -> context of the facts that the last message states."""
    *before, last = messages
    outcome = kit.Zone(RuleWriter()).given(*before).read(last)
    return {
        row.text: row.context
        for row in outcome.rows(Fact)
        if row.source_event_id == outcome.event.id
    }


def asks(words: str, *, by: str = "Bob") -> Draft:
    return says(by, words, id="asks")


def answers(words: str, *, after: int = MINUTE) -> Draft:
    return says("Ada", words, id="answers", at=START + after)


# Questions


def test_an_answer_has_its_question_beside_it() -> None:
    assert contexts(asks(f"Great to hear! {ASKED}"), answers(ANSWER)) == {
        f"Ada: {ANSWER}": f"Bob asked: Great to hear! {ASKED}"
    }


def test_every_statement_of_an_answer_has_the_question() -> None:
    told = contexts(
        asks("Who has the label printer of the Antwerp office?"),
        answers("Femke Okafor has it since March. We bought another in June."),
    )
    assert len(told) == 2
    assert set(told.values()) == {"Bob asked: Who has the label printer of the Antwerp office?"}


def test_what_fills_a_slot_has_its_question_beside_it() -> None:
    told = contexts(asks("Where do you live?"), answers("I live in Turin."))
    assert told == {"Ada lives in Turin.": "Bob asked: Where do you live?"}


def test_an_assistant_may_be_who_asks() -> None:
    question = says("assistant", "Which colour?", direction="out", id="asks")
    told = contexts(question, answers("I bought two tins of grey."))
    assert told == {"Ada bought two tins of grey.": "assistant asked: Which colour?"}


@pytest.mark.parametrize(
    "before",
    [
        asks("I go to the climbing wall in Leeds."),
        asks(ASKED, by="Ada"),
        asks(f"{'It rained on the climbing wall again. ' * 10}{ASKED}"),
        says("Bob", ASKED, id="asks", thread_id="elsewhere"),
    ],
    ids=["no question", "one's own", "long", "elsewhere"],
)
def test_nothing_else_that_was_said_before_is_context(before: Draft) -> None:
    assert contexts(before, answers(ANSWER)) == {f"Ada: {ANSWER}": None}


@pytest.mark.parametrize("kind", [Edit, Deletion])
def test_a_question_that_no_longer_stands_is_no_context(kind: type[Edit | Deletion]) -> None:
    told = contexts(
        asks("How did the twins take the burglary in Leeds?"),
        says("Bob", "How are the twins?", id="gone", at=START + 1, kind=kind, target="asks"),
        answers("They were scared but Peter sang for them."),
    )
    assert told
    assert not any("burglary" in f"{text} {context}" for text, context in told.items())


@pytest.mark.parametrize("kind", [Edit, Deletion])
def test_who_or_which_day_is_not_taken_from_what_no_longer_stands(
    kind: type[Edit | Deletion],
) -> None:
    zone = kit.Zone(RuleWriter()).given(
        says("Bob", "How did it go with Peter on Saturday 24 January?", id="asks"),
        says("Bob", "How did it go?", id="gone", at=START + 1, kind=kind, target="asks"),
        says("Ada", "He signed the lease in Turin.", at=START + MINUTE, id="answers"),
        says("Ada", "Our parcel arrives on Saturday.", at=START + 2 * MINUTE, id="arrives"),
    )
    facts = zone.facts()
    assert any("signed the lease" in fact for fact in facts)
    assert any("parcel arrives" in fact for fact in facts)
    assert not any("Peter" in fact or "01-24" in fact for fact in facts)


def test_an_answer_and_its_question_are_sealed_together() -> None:
    zone = kit.Zone(RuleWriter()).given(asks(ASKED))
    outcome = zone.read(answers(ANSWER))
    assert outcome.sources_of(Fact) == [(1, 2)]
    for part in outcome.parts:
        if part.sources != (1, 2):
            assert "climbing" not in repr(part.puts)


def test_words_of_a_question_are_no_text_to_embed() -> None:
    zone = kit.Zone(RuleWriter()).given(asks(ASKED))
    event = zone.read(answers(ANSWER)).event
    extract = RuleWriter().extract(event, kit.Thread(zone.events))
    assert extract.texts
    assert not any("climbing" in text for text in extract.texts)


# Subjects


def subject_of(subject: object, words: str = "Mr. Lund comes on Monday at 8:00.") -> str | None:
    (context,) = contexts(says("Ada", words, metadata={"subject": subject})).values()
    return context


@pytest.mark.parametrize(
    ("subject", "context"),
    [
        ("Roof of the boathouse", "Subject: Roof of the boathouse"),
        ("Re: AW: Fwd: Roof of \n the boathouse", "Subject: Roof of the boathouse"),
        ('The "new" roof: Ada said: lies', 'Subject: The "new" roof: Ada said: lies'),
        ("Reroofing", "Subject: Reroofing"),
    ],
)
def test_a_fact_of_a_mail_has_its_subject(subject: str, context: str) -> None:
    assert subject_of(subject) == context
    assert subject_of(subject, "I paid the 400 euros on Monday.") == context


@pytest.mark.parametrize("subject", ["", "Re:", "  ", "Fwd: ", 7, None, ["the roof"], "roof" * 99])
def test_a_subject_without_words_is_no_context(subject: object) -> None:
    assert subject_of(subject) is None


def test_a_subject_is_sealed_with_its_own_message_alone() -> None:
    mail = says("Ada", "I paid the 400 euros.", metadata={"subject": "Roof"})
    assert kit.Zone(RuleWriter()).read(mail).sources_of(Fact) == [(1,)]


def test_a_question_takes_precedence_over_the_subject() -> None:
    mail = says("Ada", "I live in Turin.", at=START + 1, metadata={"subject": "Your parcel"})
    assert contexts(asks("Where do you live?"), mail) == {
        "Ada lives in Turin.": "Bob asked: Where do you live?"
    }


def test_a_value_in_the_subject_is_not_retracted() -> None:
    zone = kit.Zone(RuleWriter()).given(
        says(
            "Ada",
            "The fitters start on 12 May at the back door. We meet on 14 May at the harbour.",
            id="plan",
            metadata={"subject": "Fitters on 12 May"},
        ),
        says(
            "Ada",
            "Correction: we meet on 15 May, not on 14 May.",
            at=START + HOUR,
            id="corrects",
            metadata={"subject": "Re: Fitters on 12 May"},
        ),
    )
    facts = zone.current_facts()
    assert any("The fitters start on 12 May" in fact for fact in facts)
    assert any("15 May" in fact for fact in facts)


# Corrections: what else there is to them is in test_corrected_words.py


def test_a_bare_correction_has_the_sentence_it_corrects() -> None:
    told = contexts(says("Ada", TASTING), says("Ada", MEANT, at=START + HOUR, id="corrects"))
    assert told == {
        "Ada meant the 17th, not the 16th.": "Ada said: The tasting is on Friday 16 January "
        "(2026-01-16) in the red barn."
    }


def test_a_correction_that_names_its_topic_has_no_context() -> None:
    told = contexts(
        says("Ada", "The tasting of the cider is on Friday 16 January."),
        says("Ada", "The tasting of the cider is on the 17th, not the 16th.", at=START + HOUR),
    )
    assert list(told.values()) == [None]


def test_only_the_correcting_sentence_has_the_corrected_one() -> None:
    told = contexts(
        says("Ada", TASTING),
        says("Ada", f"{MEANT} Tom brings the glasses to Kirkwall.", at=START + HOUR),
    )
    assert len(told) == 2
    assert [text for text, context in told.items() if context is None] == [
        "Ada: Tom brings the glasses to Kirkwall."
    ]


# No context


def test_the_start_of_a_conversation_is_no_context() -> None:
    told = contexts(
        says("Ada", "Hi! I need to repaint the kitchen of the cottage."),
        says("assistant", "Of course.", direction="out", at=START + 1),
        says("Ada", "I bought two tins of grey yesterday.", at=START + MINUTE),
    )
    assert told == {"Ada bought two tins of grey yesterday (2026-01-04).": None}


def test_a_caption_is_no_context() -> None:
    pictures = (Attachment(type="image", caption="a woman on a red boat"),)
    told = contexts(says("Ada", "Here is my sister at the harbour.", attachments=pictures))
    assert list(told.values()) == [None]
    assert not any("boat" in text for text in told)


# Sources


def everything_of(zone: Zone) -> str:
    """Return all that is kept of facts, contexts too, and what recall says."""
    facts = list(zone.facts(superseded=True))
    chains = [zone.why(fact.id) for fact in facts]
    return repr([facts, chains, zone.recall("climbing wall, tasting").results])


def files_with(word: str, folder: Path) -> list[str]:
    """Return the names of the files below a folder that have a word in plain bytes."""
    found = (each for each in folder.rglob("*") if each.is_file())
    return [each.name for each in found if word.encode() in each.read_bytes()]


@pytest.mark.parametrize(
    ("first", "then", "word", "stays"),
    [
        (said("first", ASKED, by="Bob"), ANSWER, "climbing", "times a week"),
        (said("first", TASTING), MEANT, "red barn", "17th"),
    ],
    ids=["question", "correction"],
)
def test_once_forgotten_no_framing_word_stays(
    tmp_path: Path, first: dict[str, object], then: str, word: str, stays: str
) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest([first, said("then", then, minute=1)])
        (fact,) = [fact for fact in zone.facts() if stays in fact.text]
        assert word in repr(zone.why(fact.id))
        assert files_with(word, tmp_path)
        zone.forget("first")
        assert word not in everything_of(zone)
        assert files_with(word, tmp_path) == []
        assert [stays in fact.text for fact in zone.facts(superseded=True)] == [True]
        assert zone.verify().ok


def test_once_the_answer_is_forgotten_its_context_is_gone(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("friends")
        zone.ingest([said("asks", ASKED, by="Bob"), said("tells", ANSWER, minute=1)])
        zone.forget("tells")
        assert list(zone.facts(superseded=True)) == []


def test_why_names_the_question_of_a_fact(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as memory:
        zone = memory.zone("ada")
        zone.ingest(
            [
                said("asks", ASKED, by="Bob"),
                said("answers", ANSWER, minute=1),
                said("own", "I paid 400 euros for the boat on Monday.", minute=2),
            ]
        )
        by_source = {fact.source_event_ids[0]: fact for fact in zone.facts()}
        chain = zone.why(by_source["answers"].id)
        assert chain.source_event_ids == ["answers", "asks"]
        assert [f"Bob asked: {ASKED}"] in [step.details for step in chain.steps]
        assert zone.why(by_source["own"].id).source_event_ids == ["own"]
