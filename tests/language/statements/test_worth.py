"""What lasts becomes a fact, and what is over with the conversation does not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from recollect.streams.language.statements.statements import analyse
from recollect.streams.language.worth import lasting, worth_words

TABLE = Path(__file__).parents[3] / "training" / "corpora" / "sentences"
AT = 1_778_248_560_000  # Friday 8 May 2026


def facts(text: str, **context: str) -> list[str]:
    analysis = analyse(text, speaker="Ada", at_ms=AT, **context)  # type: ignore[arg-type]
    return [statement.sentence for statement in analysis.statements]


def stands_alone(text: str) -> bool:
    """Whether somebody is named: what begins with "he" needs the message before it."""
    return re.match(r"(?:he|she|they)\b", text, re.IGNORECASE) is None


@pytest.mark.parametrize("half", ["train", "aside"])
def test_sentences_worth_keeping_are_kept_and_others_are_not(half: str) -> None:
    rows = [json.loads(line) for line in (TABLE / f"{half}.jsonl").read_text("utf-8").splitlines()]
    kept = [bool(facts(row["text"])) for row in rows if row["keep"] and stands_alone(row["text"])]
    others = [bool(facts(row["text"])) for row in rows if not row["keep"]]
    assert len(kept) >= 260
    assert sum(kept) / len(kept) >= 0.93
    assert sum(others) / len(others) <= 0.07


def test_of_every_kind_what_lasts_is_kept_and_what_does_not_is_none() -> None:
    rows = [json.loads(line) for line in (TABLE / "kinds.jsonl").read_text("utf-8").splitlines()]
    lost = [row["text"] for row in rows if row["keep"] and not facts(row["text"])]
    made = [row["text"] for row in rows if not row["keep"] and facts(row["text"])]
    assert len(rows) >= 250
    assert len(lost) <= 3, lost
    assert len(made) <= 11, made


@pytest.mark.parametrize(
    "text",
    [
        "always answer me in french from now on.",
        "i'm allergic to walnuts.",
        "the door code is 4471.",
        "can you write me a poem about rain?",
        "i'm so glad you like it.",
        "right now i'm stuck in the queue.",
        "to whom it may concern, i hereby confirm my order.",
        "let's go with the blue tiles for the kitchen.",
    ],
)
def test_what_is_shouted_is_worth_what_it_is_worth_in_small_letters(text: str) -> None:
    assert bool(facts(text.upper())) == bool(facts(text))


@pytest.mark.parametrize("module", [worth_words, lasting])
def test_what_is_compared_with_small_letters_holds_no_capital(module: ModuleType) -> None:
    """A cue with a capital would never be met, and nobody would be told."""
    cues = [each for each in vars(module).values() if isinstance(each, re.Pattern)]
    small = [cue for cue in cues if not cue.flags & re.IGNORECASE]
    assert len(small) >= 6
    for cue in small:
        literal = re.sub(r"\\.", "", cue.pattern)
        assert literal == literal.lower(), cue.pattern


@pytest.mark.parametrize(
    "text",
    [
        "I need to renew my passport before June.",
        "The door code is 4471.",
        "I want to open my own studio one day.",
        "Never call me before ten.",
        "Our release is on Friday.",
        "I'm allergic to walnuts.",
    ],
)
def test_what_matters_later_is_kept_beside_the_moods_of_the_hour(text: str) -> None:
    """It is kept, whatever stands beside it."""
    assert text in facts(f"I'm so tired today. {text} Let me know.")


@pytest.mark.parametrize(
    "text",
    [
        "The contract is signed!",
        "Marlow is live!",
        "Our app has finally shipped.",
        "OK team, the paper is accepted.",
        "The flight is cancelled.",
        "The gig is called off.",
    ],
)
def test_what_became_of_a_thing_is_kept(text: str) -> None:
    assert facts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Is the contract signed?",
        "It is live!",
        "The law was signed in 1994.",
        "The contract is not signed.",
        "Once the contract is signed, relax.",
        "The soup is lovely!",
        "Marlow is amazing!",
    ],
)
def test_what_is_no_outcome_is_not_kept_as_one(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm 32 and live in Turin, could you find me a gym?", ["I'm 32", "I live in Turin"]),
        ("I have two dogs. Which food is best?", ["I have two dogs."]),
        ("Since I'm allergic to nuts, what can I eat?", ["I'm allergic to nuts"]),
        ("May I remind you that Ada has a kiwi allergy?", ["Ada has a kiwi allergy"]),
        (
            "I got the Tuesday shift at the shop, wednesdays ok?",
            ["I got the Tuesday shift at the shop"],
        ),
        ("If I move to Rome, what should I see?", []),
        ("You moved to Berlin, right?", []),
    ],
)
def test_what_is_said_beside_a_question_is_kept(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I took a writing class, and it was super enlightening!", ["I took a writing class"]),
        ("I bought a boat, but it sank.", ["I bought a boat, but it sank."]),
        (
            "The dog isn't called Rex, his name is Max.",
            ["The dog isn't called Rex, his name is Max."],
        ),
        (
            "I don't live in Cologne, I moved to Aachen.",
            ["I don't live in Cologne", "I moved to Aachen."],
        ),
    ],
)
def test_a_comment_goes_and_what_takes_something_back_stays(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_few_words_that_answer_a_question_are_kept_with_it() -> None:
    said = analyse("Tuesday, at ten.", speaker="Ada", at_ms=AT, asked="When is your physio?")
    assert [statement.text for statement in said.statements] == [
        'Asked "When is your physio?", Ada answered: Tuesday (2026-05-12), at ten.'
    ]
    assert facts("Tuesday, at ten.", asked="") == facts("Tuesday, at ten.")


def test_a_plain_fact_about_nobody_here_is_kept_only_where_facts_are_dictated() -> None:
    text = "The capital of Mongolia is Ulaanbaatar."
    assert facts(text) == []
    dictated = analyse(text, speaker="Ada", at_ms=AT, dictated=True)
    assert [statement.sentence for statement in dictated.statements] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Never touch the migrations folder, Grace owns those.",
        "Never commit to main without a review.",
        "Canadian spelling in whatever you write for me, please.",
    ],
)
def test_what_is_never_to_be_done_to_a_thing_is_a_standing_instruction(text: str) -> None:
    assert facts(text) == [text.rstrip(".")] or facts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Never give up on your dreams!",
        "Never mind the tests in that folder.",
        "ok shower, bye",
        "night!",
        "Good night all",
    ],
)
def test_what_everybody_says_and_who_takes_leave_tell_nothing(text: str) -> None:
    assert facts(text) == []


def test_what_leads_to_a_statement_is_not_in_the_way() -> None:
    (told,) = facts("oh and remind me we're ripping out the kitchen in August")
    assert "ripping out the kitchen" in told
    (rule,) = facts("While we are at it: from Monday the standup is at 9:15 and no longer at 9:00.")
    assert "9:15" in rule


def test_a_bracket_ends_no_clause() -> None:
    text = "We want to get away in spring, me and Joris and our two (Fenna is 7, Bram 4)."
    assert facts(text) == [text]


def test_what_is_not_to_be_done_yet_is_no_standing_instruction() -> None:
    assert facts("Don't tell Dan yet.") == []
    assert facts("Never tell Dan about the loan of my brother.") != []


def test_an_order_between_marks_of_formatting_is_one() -> None:
    assert facts("1. **Send the confirmation to the agent in Ghent.**") == []


def test_what_is_to_be_remembered_of_material_is_no_rule() -> None:
    tale = (
        "Alyssa fastened the collar loosely and Lizzie laughed at the dog, which ran through the "
        "door and into the garden where the roses stood, until the bell of the church in Ghent "
        "rang for the evening. "
    )
    assert facts(f"{tale}(Remember that they never go out by night.)") == []
