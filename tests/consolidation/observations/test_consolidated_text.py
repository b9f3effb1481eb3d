"""The text of a consolidated memory: its heading, its lines, and what it says of long memories."""

from __future__ import annotations

from recollect.streams.consolidation.consolidated_text import (
    MAX_LINES,
    MAX_WORDS,
    Entry,
    consolidated_text,
)

#: 2026-01-05T10:00:00Z.
START = 1_767_607_200_000
DAY = 86_400_000


def entries(*texts: str) -> list[Entry]:
    return [Entry(n, text, START + n * DAY, START + n * DAY) for n, text in enumerate(texts, 1)]


def lines(*texts: str) -> list[str]:
    return consolidated_text(entries(*texts)).text.splitlines()


def test_each_memory_has_a_dated_and_numbered_line() -> None:
    assert lines("The kiln is cold.", "Ada fires the kiln at noon.") == [
        "kiln (2 memories, 6 to 7 Jan 2026):",
        "[1] 6 Jan 2026: The kiln is cold.",
        "[2] 7 Jan 2026: Ada fires the kiln at noon.",
    ]


def test_what_several_say_is_one_line_with_all_numbers() -> None:
    found = lines("The kiln is cold.", "A boat sank.", "The kiln is cold in winter.")
    assert found[1:] == [
        "[1, 3] 6 to 8 Jan 2026: The kiln is cold in winter.",
        "[2] 7 Jan 2026: A boat sank.",
    ]


def test_other_numbers_are_another_line() -> None:
    assert len(lines("The kiln fires at 900 degrees.", "The kiln fires at 950 degrees.")) == 3


def test_names_alone_make_no_heading() -> None:
    assert lines("Mira sang.", "Mira slept.")[0] == "2 memories (6 to 7 Jan 2026):"


def test_a_long_memory_is_quoted_in_its_central_parts() -> None:
    long = "Weather was fine. " * 20 + "The kiln cracked. " + "Dinner was late. " * 20
    found = lines(
        "The kiln is old.", "Somebody sold the kiln.", f"Notes of a day. The kiln cracked. {long}"
    )
    assert "The kiln cracked." in found[3]
    assert len(found[3].split()) <= MAX_WORDS + 10


def test_line_breaks_become_dashes() -> None:
    found = lines("Kiln notes\nFire it slowly.\n\nCool it.", "The kiln is cold.")
    assert found[1] == "[1] 6 Jan 2026: Kiln notes – Fire it slowly. Cool it."


def test_the_rest_of_many_memories_is_counted() -> None:
    words = [
        "oak",
        "elm",
        "ash",
        "fir",
        "yew",
        "box",
        "fig",
        "bay",
        "tea",
        "rye",
        "hop",
        "pea",
        "gin",
        "rum",
        "ale",
    ]
    found = lines(*(f"{word.title()} {word} stands near {word}ville." for word in words))
    assert len(found) == 2 + MAX_LINES
    assert found[-1] == f"… and {len(words) - MAX_LINES} more"


def test_statements_of_a_model_take_the_place_of_the_lines() -> None:
    made = consolidated_text(
        entries("The kiln is cold.", "The kiln is hot."), [("The kiln was lit.", (1, 2))]
    )
    assert made.text == "kiln (2 memories, 6 to 7 Jan 2026):\n[1, 2] The kiln was lit."


def test_a_level_above_says_how_many_texts_a_line_is_from() -> None:
    above = [Entry(1, "The kiln is cold.", START, START + DAY, 4), *entries("", "A boat sank.")[1:]]
    found = consolidated_text(above).text.splitlines()
    assert found == [
        "5 memories (5 to 7 Jan 2026):",
        "[1] 5 to 6 Jan 2026, 4 memories: The kiln is cold.",
        "[2] 7 Jan 2026: A boat sank.",
    ]
