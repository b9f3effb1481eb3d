"""The page's pure functions, as a real Chromium runs them: differences, quotes, harmless texts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from recollect.streams.agents.consolidation.consolidator import CONSOLIDATE
from recollect.streams.agents.consolidation.daily_passes import PASSES
from recollect.streams.agents.turn_closer import CLOSE_TURNS
from tests.page.kit import Page

pytestmark = pytest.mark.slow

WORDS = ("Ada", "lives", "in", "Turin", "Oslo", "and", "\n", "likes", "boats.")


def run(page: Page, module: str, call: str, *arguments: Any) -> Any:
    """Call a function of one of the page's modules; components become their code points."""
    page.goto("/page/icon.svg")
    return page.evaluate(
        f"async (given) => {{ const m = await import('/page/parts/{module}.js');"
        f" const found = m.{call}(...given);"
        " return JSON.parse(JSON.stringify(found, (key, value) =>"
        " value?.props?.children ? {mark: value.props.children} : value)); }",
        list(arguments),
    )


def test_the_words_of_a_difference_make_up_both_texts(page: Page) -> None:
    chance = random.Random(7)
    for _ in range(40):
        before, after = (" ".join(chance.choices(WORDS, k=chance.randrange(12))) for _ in range(2))
        parts = run(page, "difference", "wordChanges", before, after)
        assert "".join(text for mark, text in parts if mark != "added") == before
        assert "".join(text for mark, text in parts if mark != "removed") == after


def test_a_difference_keeps_what_stayed(page: Page) -> None:
    parts = run(
        page, "difference", "wordChanges", "Ada lives in Turin now", "Ada lives in Oslo now"
    )
    assert parts == [
        ["same", "Ada lives in "],
        ["removed", "Turin "],
        ["added", "Oslo "],
        ["same", "now"],
    ]


@pytest.mark.parametrize(
    ("text", "message", "quotes"),
    [
        ("Ada lives in Turin.", "Yes, I lives in Turin now", ["lives in Turin"]),
        ("“two bowls” (said 4 May)", "I made two bowls.", ["two bowls"]),
        ("Bob's dog is called Rex.", "My dog is called Rex.", ["dog is called Rex"]),
        ("Bob likes tea.", "Ada went home.", []),
        ("", "Ada went home.", []),
    ],
)
def test_what_a_conclusion_repeats_is_found_in_the_message(
    page: Page, text: str, message: str, quotes: list[str]
) -> None:
    assert run(page, "quotes", "quotesOf", text, message) == quotes


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "👩‍👩‍👧 and 🏴󠁧󠁢󠁳󠁣󠁴󠁿 and 👍🏽",
        "می‌خواهم",
        "naïve café, two\nlines\tand a tab",
        "בְּרֵאשִׁ֖ית",
    ],
)
def test_what_belongs_to_a_text_is_left_in_it(page: Page, text: str) -> None:
    assert run(page, "texts", "visible", text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\u202eb", ["a", {"mark": "U+202E"}, "b"]),
        ("pay\u200bpal", ["pay", {"mark": "U+200B"}, "pal"]),
        ("a\u200db", ["a", {"mark": "U+200D"}, "b"]),
        ("x\U000e0041", ["x", {"mark": "U+E0041"}, ""]),
        ("bell\x07", ["bell", {"mark": "U+0007"}, ""]),
        ("z" + "\u0301" * 9 + "x", ["z" + "\u0301" * 4, {"mark": "+5"}, "x"]),
    ],
)
def test_what_is_hidden_in_a_text_is_shown_by_its_code_point(
    page: Page, text: str, parts: list[Any]
) -> None:
    assert run(page, "texts", "visible", text) == parts


@pytest.mark.parametrize("name", [CLOSE_TURNS, CONSOLIDATE, *PASSES])
def test_a_tick_says_what_is_due(page: Page, name: str) -> None:
    tick = {"kind": "tick", "text": f"name {name}", "sender": None}
    said = run(page, "records", "firstWords", tick)
    assert said.startswith("due: ")
    assert len(said.split()) > 3
    assert "_" not in said


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("run_pass", "name temporal", "find routines, upcoming events and cycles"),
        ("park", "reason not JSON, body {}", "input that could not be read: not JSON"),
        ("forget", "targets [3]", "record 3"),
        ("forget", "targets [3,17]", "records 3, 17"),
        ("create_mental_model", "name Homes, description In Oslo.", "Homes: In Oslo."),
        (
            "create_mental_model",
            "name Ada, entity_id 0000000000TQNMRX6SHK32Y220, refresh_trigger {}",
            "Ada",
        ),
    ],
)
def test_a_record_is_summarised_in_words(page: Page, kind: str, text: str, words: str) -> None:
    assert run(page, "records", "firstWords", {"kind": kind, "text": text, "sender": None}) == words


@pytest.mark.parametrize(
    ("type_", "words"),
    [("person", "person"), ("unknown", "unknown type"), ("slack_handle", "slack account")],
)
def test_the_type_of_an_entity_is_said_in_words(page: Page, type_: str, words: str) -> None:
    assert run(page, "entities", "typeInWords", type_) == words
