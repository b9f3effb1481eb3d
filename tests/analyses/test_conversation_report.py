"""Reports on conversations: who took part, what was decided, what is open, what is next."""

from __future__ import annotations

import pytest

from recollect.streams.analyses.conversation_report import (
    ConversationReport,
    Participant,
    report,
    report_text,
)
from recollect.streams.analyses.utterances import Utterance

MINUTE = 60_000


def conversation(*messages: str) -> ConversationReport:
    """A conversation of "Ada: text" and "Ben: text", a minute apart."""
    utterances = []
    for number, message in enumerate(messages):
        speaker, _, text = message.partition(": ")
        utterances.append(Utterance(number, number * MINUTE, speaker, text))
    return report(utterances)


def decided(*messages: str) -> list[str]:
    return [sentence.text for sentence in conversation(*messages).decisions]


def open_questions(*messages: str) -> list[str]:
    return [sentence.text for sentence in conversation(*messages).open_questions]


def next_steps(*messages: str) -> list[tuple[str, str]]:
    return [(it.speaker, it.text) for it in conversation(*messages).next_steps]


def test_those_who_wrote_most_come_first() -> None:
    found = conversation("Ada: hello", "Ben: hello there", "Ben: good to see you")
    assert found.participants == (Participant("Ben", 2, 6), Participant("Ada", 1, 1))
    assert (found.started_at, found.ended_at) == (0, 2 * MINUTE)


def test_a_proposal_that_another_accepts_is_decided() -> None:
    proposal = "Let's meet at the library on Friday."
    assert decided(f"Ada: {proposal}", "Ben: Sounds good, see you there.") == [proposal]
    assert decided("Ada: How about lunch at noon?", "Ben: Yes, perfect!") == [
        "How about lunch at noon?"
    ]


@pytest.mark.parametrize(
    "answer", ["No, I can't.", "Sure, but not on Friday.", "Maybe, I have to check.", "Which room?"]
)
def test_a_proposal_that_nobody_accepts_is_not(answer: str) -> None:
    assert decided("Ada: Let's meet at the library on Friday.", f"Ben: {answer}") == []
    assert decided("Ada: Let's meet at the library on Friday.") == []


@pytest.mark.parametrize(
    "text",
    [
        "We decided to paint the kitchen green.",
        "I'm going with the blue tiles.",
        "We've agreed on a budget of 900 euros.",
        "Decision: the launch moves to May.",
    ],
)
def test_what_is_said_to_be_settled_is_decided(text: str) -> None:
    assert decided(f"Ada: {text}") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "It was hard when we decided to sell the house.",
        "Have we decided on the tiles?",
        "We haven't decided on the tiles.",
        "Let's keep chasing our dreams!",
        "What about efficiency?",
        "Would you like to share the recipe?",
    ],
)
def test_what_is_only_told_is_not_decided(text: str) -> None:
    assert decided(f"Ada: {text}", "Ben: Yes, definitely!") == []


def test_a_question_is_open_until_it_is_answered() -> None:
    question = "Which train does Mara take?"
    assert open_questions(f"Ada: {question}") == [question]
    assert open_questions(f"Ada: {question}", "Ben: The one at nine.") == []
    assert open_questions(f"Ada: {question}", "Ada: I looked at the plan.") == [question]


@pytest.mark.parametrize("answer", ["Not sure, I'll check.", "Which Mara?", "No idea yet."])
def test_a_question_stays_open_after_an_evasion(answer: str) -> None:
    assert "Which train does Mara take?" in open_questions(
        "Ada: Which train does Mara take?", f"Ben: {answer}"
    )


@pytest.mark.parametrize("text", ["How are you?", "What's up?", "Right?", "Really?", "And you?"])
def test_a_courtesy_is_no_open_question(text: str) -> None:
    assert open_questions(f"Ada: {text}") == []


@pytest.mark.parametrize(
    "text",
    [
        "I'll send the contract tomorrow.",
        "Ok, I will call the plumber.",
        "I need to renew my passport.",
        "Please bring the red folder.",
        "Could you book the room for Friday?",
        "Don't forget to water the plants.",
        "Action item: update the budget sheet.",
    ],
)
def test_what_somebody_undertakes_or_asks_for_is_next(text: str) -> None:
    assert next_steps(f"Ada: {text}") == [("Ada", text)]


@pytest.mark.parametrize(
    "text",
    [
        "I'll never forget that trip.",
        "I'll always love this town.",
        "I sent the contract yesterday.",
        "We'll make it through this.",
        "Could you explain how boilers work?",
        "The plan is good.",
    ],
)
def test_what_is_no_deed_is_not_next(text: str) -> None:
    assert next_steps(f"Ada: {text}") == []


def test_each_result_quotes_its_message() -> None:
    text = "Hi. I'll send the contract tomorrow."
    (step,) = conversation("Ben: hello", f"Ada: {text}").next_steps
    assert (step.number, text[step.start : step.end]) == (1, "I'll send the contract tomorrow.")


def test_a_report_reads_as_a_few_lines() -> None:
    found = conversation(
        "Ada: Let's meet on Friday at ten.",
        "Ben: Sounds good.",
        "Ben: Which room did Mara book?",
    )
    assert report_text(found) == (
        "3 messages in 2 min: Ben (2), Ada (1)\n"
        "Decided: Ada: Let's meet on Friday at ten.\n"
        "Open: Ben: Which room did Mara book?"
    )


@pytest.mark.parametrize("unit", ["ok ", "let's ", "I'll ", "please ", "so, ", "how about ", "? "])
def test_a_hostile_message_costs_no_more_than_its_length(unit: str) -> None:
    # A quadratic rule would not end within the time that a test has.
    report([Utterance(0, 0, "Ada", unit * 30_000), Utterance(1, 1, "Ben", unit * 30_000)])
