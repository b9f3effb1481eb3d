"""No question is too odd: it is answered, or finds nothing."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.client import Memory
from tests.recall.kit import ask, cited, recaller_of, talk, tell

ODD = {
    "empty": "",
    "blank": " \t\n ",
    "stop words": "what is the of and who were you",
    "quotes": "\"own' a “dog” ''\"\"",
    "operators": "dog AND OR NOT NEAR(own dog, 2) dog* ^dog content:dog + - (own {a : b}",
    "unclosed": '"dog (own',
    "SQL": "dog'; DROP TABLE events; --",
    "emoji": "🐕 dog 👩‍👩‍👧 🇳🇴",
    "emoji alone": "🐕🦴",
    "CJK": "犬は東京でdogを見た",
    "Arabic": "كلب dog",
    "combining": "do\u0301g dog \u0301",
    "ten thousand words": "dog " * 10_000,
    "ten thousand other words": " ".join(f"word{place}" for place in range(10_000)),
    "one long word": "dog" * 20_000,
    "capitals": "Ada Bob " * 500,
    "NUL": "do\0g dog \0",
    "surrogate": "dog \ud83d and \udc00",
    "surrogate alone": "\udfff",
    "private use": "\ue000\U0010ffff",
    "zero width": "\u200b\ufeff\u2060",
    "percent": "100% _ % dog",
}


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def pets(request: pytest.FixtureRequest) -> Memory:
    memory: Memory = request.getfixturevalue("memory" if request.param else "words_only")
    tell(memory, talk(("Ada", "I own a dog."), ("Bob", "犬 東京"), ("Ada", "🐕")))
    return memory


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_question_is_answered(pets: Memory, text: str) -> None:
    scopes = (("events", "facts", "mental_models", "entities"), ("facts",), ("entities",))
    for budget in ("low", "mid", "high"):
        for scope in scopes:
            results = ask(pets, text, budget=budget, scope=scope, explain=True)
            assert len(results) <= 20
    recaller = recaller_of(pets)
    recaller.text_to_embed(text)
    if " dog " in text or text.startswith("dog "):
        assert "m1" in cited(ask(pets, text))


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_name_finds_nothing(pets: Memory, text: str) -> None:
    assert ask(pets, "dog", entity=text) == []
    assert ask(pets, "dog", platform=text) == []


def test_words_of_other_scripts_are_found(words_only: Memory) -> None:
    tell(words_only, talk(("Ada", "犬 東京"), ("Bob", "собака в Москве")))
    assert cited(ask(words_only, "東京", scope=("events",)))[0] == "m1"
    assert cited(ask(words_only, "СОБАКА", scope=("events",)))[0] == "m2"


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(max_size=60), name=st.text(max_size=20))
def test_any_text_is_a_question(words_only: Memory, text: str, name: str) -> None:
    if not words_only.exists():
        tell(words_only, talk(("Ada", "I own a dog."), ("Bob", "It rained.")))
    ask(words_only, text, scope=("events", "facts", "entities", "mental_models"))
    ask(words_only, text, entity=name, platform=name)
