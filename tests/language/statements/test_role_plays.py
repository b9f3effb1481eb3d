"""What is said in a play that somebody asked an assistant for is nobody's own."""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.role_plays import begins_play
from tests.language.stating import stated

AT = 1_778_248_560_000  # Friday 8 May 2026, 14:36 UTC


@pytest.mark.parametrize(
    "text",
    [
        "Let's role-play a job interview, you ask and I answer.",
        "From now on answer as if you were the chatbot of a bakery.",
        "I want you to act like a hotel receptionist.",
        "Pretend you are a dragon and I'm the knight who finds it.",
        "Simulate a phone call between me and my landlord.",
        "Please play the role of my mother-in-law.",
        "Imagine you're a barista in a busy shop.",
        "Pretend we are lost at sea.",
    ],
)
def test_a_play_is_begun(text: str) -> None:
    assert begins_play(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Act as a dietician. I'm vegan and allergic to nuts.",
        "You are an expert in tax law. I moved to Ghent in March.",
        "I role-play with my friends every Friday.",
        "I had to pretend to be a customer last week.",
        "I don't pretend we are rich.",
        "My son plays the part of the wolf in the school play on Friday.",
        "Imagine you are on a beach. I was there in May.",
        "Answer like you always do.",
        "We don't role-play at work.",
        "a" * 5_000,
        "pretend " * 2_000,
        "answer like you were " * 500,
    ],
)
def test_advice_and_what_is_told_of_plays_is_no_play(text: str) -> None:
    assert not begins_play(text)


def test_in_a_play_nothing_is_stated() -> None:
    text = "I'd like to book an eye exam for my daughter Ines on Monday, my number is 514-555-0199."
    assert stated(text, speaker="Ada", at_ms=AT).statements
    played = stated(text, speaker="Ada", at_ms=AT, is_played=True)
    assert played.statements == ()
    assert played.contacts == ()


@pytest.mark.parametrize(
    "text",
    [
        "ok storytime. an otter runs a night ferry.",
        "Write me a tale. The main character is Mosje, an otter of 43.",
        "act as jo:\nWe have been offered to present to the president.",
        "Continue the tale, the villain is a heron who collects shoes.",
    ],
)
def test_what_is_said_in_a_story_is_nobodys_own(text: str) -> None:
    assert begins_play(text)


def test_who_speaks_of_a_hero_tells_no_story() -> None:
    assert not begins_play("My hero is my grandmother. The main character of that film is dull.")
