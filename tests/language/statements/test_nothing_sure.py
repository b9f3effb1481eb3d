"""Of a message that says nothing that surely lasts, what tells most is kept, or nothing."""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.text_reading import ReadSentence, TextReading
from recollect.streams.language.statements.statements import analyse
from recollect.text.sentences import sentences

AT = 1_778_248_560_000  # Friday 8 May 2026, 14:36 UTC


def facts(text: str) -> list[str]:
    statements = analyse(text, speaker="Ada", at_ms=AT).statements
    return [text[each.start : each.end] for each in statements]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "I'm ready to go on. Our kitchen was mostly a mess of crates and oak shelves.",
            "Our kitchen was mostly a mess of crates and oak shelves.",
        ),
        (
            "My head is spinning. The kiln cracked while I was glazing the tall vases.",
            "The kiln cracked while I was glazing the tall vases.",
        ),
        (
            "I don't have the energy to search. I was mostly sorting seeds and mending nets.",
            "I was mostly sorting seeds and mending nets.",
        ),
        (
            "Finally, we're getting somewhere. The harvest of the quinces made our cellar smell.",
            "The harvest of the quinces made our cellar smell.",
        ),
    ],
)
def test_given_a_state_of_the_hour_and_content_when_read_then_the_content(
    text: str, kept: str
) -> None:
    assert facts(text) == [kept]


@pytest.mark.parametrize(
    "text",
    [
        "I'm ready to continue.",
        "I'm totally drained and my head is spinning.",
        "We don't have time for this back and forth.",
        "I'm so proud of you!",
        "That sounds great, I'll send it in a minute.",
        "We were talking about the second part.",
        "I'm off to bed now.",
        "Okay, mengerti. Siap.",
        "Saya sudah paham.",
    ],
)
def test_given_only_a_state_of_the_hour_when_read_then_nothing(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The capital of Peru is Lima.",
        "Write a poem about my garden. The roses climb the eastern wall in June.",
        "My tea is getting cold.",
        "You painted the eastern wall with me.",
    ],
)
def test_given_what_nobody_says_of_himself_when_read_then_nothing_of_it(text: str) -> None:
    assert facts(text) == []


def test_given_something_sure_when_read_then_the_rest_is_left() -> None:
    text = "I'm ready to go on. I moved to Ghent in March. I like how the light falls there."
    assert facts(text) == ["I moved to Ghent in March."]


@pytest.mark.parametrize(
    "text", ["We can start on Monday at 8:00.", "I could come on Friday at 17:30."]
)
def test_given_an_offer_of_a_day_and_an_hour_when_read_then_it_is_sure(text: str) -> None:
    beside = "The tiles cost 400 euros more than planned, because the supplier changed."
    assert text in facts(f"{text} {beside}")


def test_given_no_name_of_the_day_when_read_twice_then_the_same() -> None:
    text = "I mended the nets. I sorted the seeds. I stacked the boxes."
    assert facts(text) == facts(text)
    assert len(facts(text)) >= 1


def read(text: str, durable: tuple[int, ...], *, among_people: bool = False) -> list[str]:
    """Return what is kept where the head finds each sentence so durable (percent)."""
    found = tuple(
        ReadSentence(start, end, "statement", percent, None, 0)
        for (start, end), percent in zip(sentences(text), durable, strict=True)
    )
    statements = analyse(
        text,
        speaker="Ada",
        at_ms=AT,
        reading=TextReading((), (), found),
        among_people=among_people,
    ).statements
    return [text[each.start : each.end] for each in statements]


def test_of_two_that_rules_find_alike_the_head_chooses() -> None:
    text = "I was mostly sorting seeds and nets.\n\nI was mostly mending boats and oars."
    assert read(text, (20, 70)) == ["I was mostly mending boats and oars."]
    assert read(text, (70, 20)) == ["I was mostly sorting seeds and nets."]


def test_what_the_head_is_sure_of_is_kept_whatever_rules_find() -> None:
    said = "Only oak beams from Orta bear the snow."
    assert read(said, (30,)) == []
    assert read(said, (95,)) == [said]


def test_an_order_is_no_fact_however_sure_the_head_is() -> None:
    assert read("Just send the list of the mill's beams to Otto now.", (99,)) == []


def test_among_people_more_is_asked_of_what_is_not_sure() -> None:
    said = "I was mostly sorting seeds and mending nets."
    assert read(said, (40,)) == [said]
    assert read(said, (40,), among_people=True) == []
    assert read(said, (97,), among_people=True) == [said]


def test_what_everybody_says_is_told_of_nobody() -> None:
    """The head is nearly as sure of it as of what somebody says of themselves."""
    everybody = "Baking good bread together in an old oven each winter is good for a family."
    somebody = "My family bakes good bread together in the old oven each winter and spring."
    assert read(everybody, (70,), among_people=True) == []
    assert read(somebody, (70,), among_people=True) == [somebody]


def test_a_line_among_people_must_tell_more_than_a_message() -> None:
    """What somebody throws in goes on from what others said, and is read with it."""
    line = "The fitters have my name and the key."
    message = f"{line} The kettle is warm and the table by the stove is set for us all."
    percents = (85, 10)
    assert read(line, percents[:1], among_people=True) == []
    assert read(message, percents, among_people=True) == [line]
    assert read(line, percents[:1]) == [line]  # to an assistant


@pytest.mark.parametrize(
    ("said", "percents", "kept"),
    [
        ("Design review tomorrow at 14:00 in the mill.", (97,), None),
        ("Dear all,\n\nOtto's class visits the mill on Thursday 9 July.", (9, 98), 1),
        ("Please bring twelve euros for the boat. The boat leaves Orta at 8:45.", (80, 90), 1),
    ],
)
def test_an_announcement_to_people_is_told_and_not_taken_for_a_request(
    said: str, percents: tuple[int, ...], kept: int | None
) -> None:
    spans = sentences(said)
    start, end = spans[kept] if kept is not None else (0, len(said))
    assert said[start:end] in read(said, percents, among_people=True)


def test_a_long_announcement_in_which_nobody_says_i_is_told_among_people() -> None:
    said = (
        "Otto's class visits the mill on Thursday 9 July. The bus leaves Orta at 8:45 and comes "
        "back at noon. Bread and cheese are there. Boots are better than shoes, the paths are wet."
    )
    percents = (98, 86, 20, 20)
    assert "Otto's class visits the mill on Thursday 9 July." in read(
        said, percents, among_people=True
    )
    assert read(said, percents) == []  # to an assistant it may be material


def test_what_is_proposed_or_wished_is_told_where_the_head_is_sure_and_no_order_is() -> None:
    proposed = "Let's practise the song of the millers with the long refrain."
    wished = "I want a more stable income from the mill."
    assert read(proposed, (90,)) == [proposed]
    assert read(wished, (95,)) == [wished]
    assert read("Give me a more stable list of the mill's songs.", (95,)) == []


def test_a_question_that_reminds_of_what_was_tells_what_stands_before() -> None:
    said = "No, I haven't changed that air filter yet, remember my son was sick?"
    assert any(fact.startswith("No, I haven't changed") for fact in read(said, (93,)))


def test_what_is_asked_of_the_readers_stays_out_of_what_they_are_told() -> None:
    said = "Gannet is on for Tuesday 17 March 🚀 The list is pinned, please put your name on it!"
    told = read(said, (90,), among_people=True)
    assert all("please" not in fact for fact in told)
    assert any(fact.startswith("Gannet is on for Tuesday 17 March") for fact in told)


def test_numbers_make_no_sentence_foreign() -> None:
    said = "88 rue Charlevoix apartment 2 is officially home."
    assert read(said, (99,), among_people=True) == [said]


def test_that_something_was_told_before_tells_nothing() -> None:
    assert read("I already told you about the mill and the boats of Orta.", (60,)) == []


def test_rules_alone_take_no_long_text_of_nobody_for_an_announcement() -> None:
    said = (
        "The mill stands by the river since 1720. It has nine wheels and two stones of basalt. "
        "Oak beams bear the roof, and the snow slides off. Visitors come in May and in September."
    )
    assert analyse(said, speaker="Ada", at_ms=AT, among_people=True).statements == ()


@pytest.mark.parametrize(
    ("line", "percent"),
    [
        ("Passed my citizenship test today.", 66),
        ("The launch of Gannet slipped to Friday.", 42),
        ("The meeting is in Room 4 at 10:00.", 45),
    ],
)
def test_a_line_that_tells_of_a_life_or_names_a_day_and_what_for_is_told(
    line: str, percent: int
) -> None:
    assert read(line, (percent,), among_people=True) == [line]


@pytest.mark.parametrize("line", ["See you on Friday!", "It was cold on Friday.", "Ha, at 10:00!"])
def test_a_line_with_a_day_and_nothing_else_is_not(line: str) -> None:
    assert read(line, (45,), among_people=True) == []
