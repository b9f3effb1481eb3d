"""No question is too odd: it is answered, or finds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.cli.app import run
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.kit import EncodedHome, ask, cited, talk, tell

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
    "two thousand words": "dog " * 2_500,
    "a thousand other words": " ".join(f"word{place}" for place in range(1_110)),
    "one long word": "dog" * 3_333,
    "capitals": "Ada Bob " * 500,
    "NUL": "do\0g dog \0",
    "surrogate": "dog \ud83d and \udc00",
    "surrogate alone": "\udfff",
    "private use": "\ue000\U0010ffff",
    "zero width": "\u200b\ufeff\u2060",
    "percent": "100% _ % dog",
    "punctuation alone": "?!.,;:-()[]{}<>/\\|@#$^&*~`'\"",
    "columns and phrases": 'content : dog + "own a" -caption:{dog} dog NEAR/2 own',
    "patterns": r"^(a+)+$ .* \d{1,9} [[:alpha:]] dog",
    "control characters": "do\x01g dog \x1b[31m\x7f\r\n\x0b",
    "right to left": "\u202edog\u202c \u05db\u05dc\u05d1 dog",
    "stacked marks": "d" + "\u0301" * 500 + "og dog",
    "ten thousand signs": "\u72ac" * 10_000,
    "a ligature and wide letters": "\ufb01\ufb02 \uff44\uff4f\uff47 dog",
    "JSON": '{"query": "dog", "k": -1} dog',
    "names by the hundred": " ".join(f"Name{place} Last" for place in range(700)),
}
LONGEST = 10_000
assert all(len(text) <= LONGEST for text in ODD.values())


@pytest.fixture(
    params=[
        pytest.param(True, id="encoder", marks=pytest.mark.slow),
        pytest.param(False, id="words"),
    ],
    scope="module",
)
def pets(request: pytest.FixtureRequest) -> Iterator[Memory]:
    """A memory that is only asked."""
    with in_memory() as room:
        Home.create_or_open(room / "home", without_encoder=True)
        with Memory((EncodedHome if request.param else Home)(room / "home")) as memory:
            tell(memory, talk(("Ada", "I own a dog."), ("Bob", "犬 東京"), ("Ada", "🐕")))
            yield memory


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_question_is_answered(pets: Memory, text: str) -> None:
    scopes = (("events", "facts", "mental_models", "entities"), ("facts",), ("entities",))
    for budget in ("low", "mid", "high"):
        for scope in scopes:
            results = ask(pets, text, budget=budget, scope=scope, explain=True)
            assert len(results) <= 20
    if " dog " in text or text.startswith("dog "):
        assert "m1" in cited(ask(pets, text))


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_name_finds_nothing(pets: Memory, text: str) -> None:
    assert ask(pets, "dog", entity=text[:1_024]) == []
    assert ask(pets, "dog", platform=text[:1_024]) == []


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_id_is_that_of_nothing(pets: Memory, text: str) -> None:
    assert pets.explain(Query("dog"), text) is None
    assert pets.explain(Query(text), "m1") is not None


@pytest.mark.parametrize("text", [text for text in ODD.values() if "\0" not in text])
def test_an_odd_question_is_answered_by_the_command(
    words_only: Memory, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    tell(words_only, talk(("Ada", "I own a dog.")))
    arguments = ["--home", str(words_only.home.directory), "recall", "--json", "--", text]
    try:
        text.encode()
    except UnicodeEncodeError:
        assert run(arguments) == 2
        assert "not UTF-8" in capfd.readouterr().err
        return
    assert run(arguments) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["query"] == text


def test_a_question_has_a_length(words_only: Memory) -> None:
    tell(words_only, talk(("Ada", "I own a dog.")))
    longest = "dog ".ljust(LONGEST, "x")
    assert cited(ask(words_only, longest)) == ["m1"]
    for query in (Query(longest + "x"), Query("dog", entity="x" * 1_025)):
        for asks in (words_only.recall, partial(words_only.explain, id_="m1")):
            with pytest.raises(InvalidInput, match="the maximum is"):
                asks(query)


@pytest.mark.parametrize("time", [2**63, -(2**63) - 1, 10**40, 10**16])
def test_a_moment_that_no_clock_shows_is_refused(words_only: Memory, time: int) -> None:
    tell(words_only, talk(("Ada", "I own a dog.")))
    for query in (
        *(Query("dog", time_after=time), Query("dog", time_before=time)),
        *(Query("dog", valid_at=time), Query("dog", asked_at=time)),
    ):
        with pytest.raises(InvalidInput, match=r"time_after|time_before|valid_at|asked_at"):
            words_only.recall(query)
    with pytest.raises(InvalidInput, match="known_at"):
        words_only.recall(Query("dog"), known_at=time)


def test_a_question_that_is_too_long_is_wrong_use(
    words_only: Memory, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tell(words_only, talk(("Ada", "I own a dog.")))
    home = ["--home", str(words_only.home.directory)]
    long = "x" * (LONGEST + 1)
    batch = tmp_path / "batch.jsonl"
    asked = {"id": 1, "query": "dog"}
    for line, reason in (
        ({"id": 2, "query": long}, "the query has 10001 characters; the maximum is 10000"),
        ({"id": 2, "query": "x" * 2_000_000}, "the line is longer than 1048576 bytes"),
        ({"id": 2, "query": "dog", "budget": "x" * 100_000}, "budget: invalid enum value"),
        ({"id": 10**40, "query": "dog"}, "beyond 64 bits"),
        ({"id": 2, "query": "dog", "k": 1_001}, "give 1 to 1000"),
        ({"id": 2, "query": "dog", "after": 1_778_248_560}, "looks like unix seconds"),
    ):
        batch.write_text(f"{json.dumps(asked)}\n{json.dumps(line)}\n{json.dumps(asked)}\n")
        assert run([*home, "recall", "--batch", str(batch)]) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"recollect: {batch}:2: ")
        assert reason in said.err
        assert len(said.err) < 1_000
    assert run([*home, "recall", "--", long]) == 2
    assert "the maximum is 10000" in capfd.readouterr().err
    assert run([*home, "recall", "dog", "--after", "1778248560"]) == 2
    assert "after: 1778248560 looks like unix seconds" in capfd.readouterr().err


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
