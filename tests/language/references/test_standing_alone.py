"""No fact leaves open whom or what it is about; where that is sure, it is named."""

from __future__ import annotations

import pytest

from recollect.streams.language.references.person_before import Before
from recollect.streams.language.statements.statements import analyse

AT = 1_778_248_560_000  # Friday 8 May 2026


def facts(text: str, *before: tuple[str, str], asked: str | None = None) -> list[str]:
    said = [Before(number, who, words) for number, (who, words) in enumerate(before, 1)]
    analysis = analyse(text, speaker="Ada", at_ms=AT, before=said, asked=asked)
    return [statement.text for statement in analysis.statements]


@pytest.mark.parametrize(
    "text",
    [
        "He weighs 12 kg now.",
        "Her antihistamine is in the left pocket.",
        "That works for her on Monday.",
        "It moved to Thursday.",
        "They will be ready next Friday.",
        "He'd have voted for it twice.",
        "I told him about the flat in Leeds.",
        "She starts on Monday in Room 12.",
        "His rabies booster is due in June.",
        "Peter takes her swimming on Monday.",
        "On Monday she bought a car for 300 euros.",
        "Yesterday she bought a car for 300 euros.",
    ],
)
def test_what_leaves_open_whom_it_is_about_is_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "My sister moved to Oslo and she loves it.",
            "Ada's sister moved to Oslo and she loves it.",
        ),
        (
            "The vet says that he can see Rex on Monday.",
            "The vet says that he can see Rex on Monday (2026-05-11).",
        ),
        ("I sold the boat because it was leaking.", "Ada sold the boat because it was leaking."),
        ("They promoted me to head of design.", "They promoted me to head of design."),
        ("I hate it when people smoke indoors.", "I hate it when people smoke indoors."),
        ("This week I am in Bergen.", "This week (2026-05-04 to 2026-05-10) I am in Bergen."),
    ],
)
def test_a_pronoun_that_the_sentence_explains_itself_takes_nothing_away(
    text: str, told: str
) -> None:
    assert [each.removeprefix("Ada: ") for each in facts(text)] == [told]


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        (
            [("Bob", "How is your sister Ines?")],
            "She broke her leg on Monday.",
            "Ines broke her leg on Monday",
        ),
        (
            [("Ada", "My cousin is in trouble.")],
            "She lost her job in April.",
            "Ada's cousin lost her",
        ),
        (
            [("Bob", "Did you call Maria?")],
            "Yes, her number plate is KX 4471.",
            "Maria's number plate is KX 4471",
        ),
        (
            [("Bob", "Sure."), ("Bob", "Peter had an urgent matter in Turin.")],
            "He will come on Monday at eight.",
            "Peter will come on Monday",
        ),
    ],
)
def test_who_is_meant_is_taken_from_the_messages_before(
    before: list[tuple[str, str]], text: str, told: str
) -> None:
    (fact,) = facts(text, *before)
    assert told in fact


@pytest.mark.parametrize(
    ("before", "text"),
    [
        # Two of whom it may be said.
        ([("Bob", "Anna and Maria called.")], "She moves to Oslo on Monday."),
        # Of another gender, or a stranger beside the name.
        ([("Bob", "Peter called.")], "She moves to Oslo on Monday."),
        ([("Bob", "Peter saw a man at the door.")], "He moves to Oslo on Monday."),
        # Only spoken to, or the one who speaks.
        ([("Bob", "Peter!")], "He moves to Oslo on Monday."),
        ([("Bob", "Thanks, Ada.")], "She moves to Oslo on Monday."),
        # A name that stands in somebody else's words.
        ([("Bob", 'She wrote: "Peter is ill."')], "He moves to Oslo on Monday."),
        # Somebody whom nothing tells from another word comes between.
        ([("Bob", "Peter called.")], "kelp ate his dinner. He moves to Oslo on Monday."),
        ([], "He moves to Oslo on Monday."),
    ],
)
def test_where_it_is_not_sure_nobody_is_taken(before: list[tuple[str, str]], text: str) -> None:
    assert not any("Oslo" in fact for fact in facts(text, *before))


def test_things_are_named_by_the_sentence_before() -> None:
    (fact,) = facts("They'll be ready next Friday.", ("Bob", "The glasses are not collected yet."))
    assert fact.startswith("Ada: The glasses will be ready next Friday")


def test_what_a_question_asks_for_is_answered_with_it() -> None:
    assert facts("We made pizza!", asked="What did you make?") == [
        'Asked "What did you make?", Ada answered: Ada and others made pizza.'
    ]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("How did the twins take the storm?", "They were awestruck and humbled."),
        ("How did your aunt end up at the shelter?", "She lost her flat after the fire."),
        ("How did the grant help with the school?", "It paid for the roof and the boiler."),
        ("Who wrote the words on your mug?", "It was Matt Okell."),
        ("Nice picture, what happened at the lake?", "It was the day of the rowing regatta."),
    ],
)
def test_an_answer_that_leaves_something_open_is_told_with_what_was_asked(
    asked: str, answer: str
) -> None:
    told = facts(answer, asked=asked)
    assert any(fact.startswith('Asked "') and answer in fact for fact in told), told


@pytest.mark.parametrize(
    "said", ["Nice one, Maria!", "Hey Maria, thanks.", "It really mattered.", "I appreciate that."]
)
def test_thanks_answer_nothing(said: str) -> None:
    assert facts(said, asked="What would you like to try?") == []


def test_a_remark_before_the_answer_is_no_answer() -> None:
    (fact,) = facts(
        "Wow Tom, that's a stunning kitchen! We made pizza!", asked="What did you make?"
    )
    assert "pizza" in fact
    assert "stunning" not in fact


def test_that_it_was_said_before_is_no_answer() -> None:
    said = "Ah, we already talked about this one! My goal is to open a second shop in Turin."
    (fact,) = facts(said, asked="What is your goal?")
    assert "second shop" in fact
    assert "talked" not in fact


def test_of_a_message_that_has_something_sure_the_rest_is_left_out() -> None:
    said = "I'm so tired today. I start at Halden & Sons on Monday. I just want some quiet."
    (fact,) = facts(said)
    assert "Halden & Sons" in fact


def test_a_clause_before_that_names_whom_it_is_about_stays() -> None:
    assert "one-year-old" in facts("Our one-year-old is so cute, his name is Kyle!")[0]
