"""Declared rules match as their patterns say, the longest first."""

from __future__ import annotations

import pytest

from recollect.text.declared_rules import Grammar, Match, Reading, Rule, lexemes, rule

_CLASSES = {"fruit": frozenset({"apple", "pear"})}


def _after_the(reading: Reading, left: int, right: int) -> bool:
    return reading.lower(left - 1) == "the"


def _shouts(reading: Reading, at: int) -> list[tuple[int, str]]:
    return [(at + 1, "!")] if reading.lower(at) == "ha" else []


def read(text: str, *rules: Rule, disabled: frozenset[str] = frozenset()) -> list[Match]:
    grammar = Grammar(
        rules,
        classes=_CLASSES,
        conditions={"after_the": _after_the},
        terminals={
            "shout": lambda reading, at: [(at + 1, "!")] if reading.lower(at) == "ha" else []
        },
        disabled=disabled,
    )
    words = lexemes(text, 0, len(text))
    return Reading(grammar, text, words, "state").best(frozenset({"top"}))


def found(text: str, pattern: str, *unless: str) -> list[object]:
    """Return what the captures of one pattern are, wherever it is found in a text."""
    top = rule("top", "top", pattern, lambda state, *values: values, unless=unless)
    number = rule("number", "number", "#", lambda state, digits: int(digits))
    letter = rule("letter", "letter", "{c}", lambda state, word: word.upper())
    return [match.value for match in read(text, top, number, letter)]


@pytest.mark.parametrize(
    ("pattern", "text", "values"),
    [
        ("a b", "x A b y", [()]),
        ("a b", "a, b", []),
        ("a b? c", "a c and a b c", [(), ()]),
        ("{a|b} c", "b c", [("b",)]),
        ("(a b | c) d", "a b d, c d, b d", [(), ()]),
        ("{@fruit}", "an apple", [("apple",)]),
        ("<number> kg", "12 kg", [(12,)]),
        ("<number>? kg", "kg", [(None,)]),
        ("#2 ~: ~#2", "12:30 or 12 : 30", [("12", "30")]),
        ("<number> \\( <number> \\)", "1 (2)", [(1, 2)]),
        ("<number|letter> kg", "12 kg, c kg", [(12,), ("C",)]),
        ("(<number> kg | one {kg|lb})", "12 kg, one lb", [(12,), ("lb",)]),
        ("a b", "a\nb", []),
        ("o'clock", "O’clock", [()]),
        ("dog ' s", "the dog's", [()]),
    ],
)
def test_a_pattern_is_found(pattern: str, text: str, values: list[object]) -> None:
    assert found(text, pattern) == values


@pytest.mark.parametrize(
    ("unless", "text", "count"),
    [
        ("before no|never", "no a", 0),
        ("before no|never", "yes a", 1),
        ("only before on", "a", 0),
        ("only before on", "on a", 1),
        ("after # kg", "a 3 kg", 0),
        ("after <number>", "a 3", 0),
        ("after ~s", "a s", 1),
        ("only after b", "a b", 1),
        ("only after b", "a", 0),
        ("after_the", "the a", 0),
        ("only after_the", "the a", 1),
    ],
)
def test_a_rule_holds_where_its_guards_let_it(unless: str, text: str, count: int) -> None:
    assert len(found(text, "a", unless)) == count


def _named(name: str, pattern: str, priority: int = 0) -> Rule:
    return rule(name, "top", pattern, lambda state, *_: name, priority=priority)


def test_the_longest_wins_then_the_priority_then_the_first() -> None:
    short, long = _named("short", "a"), _named("long", "a b")
    assert [match.value for match in read("a b a", short, long)] == ["long", "short"]
    one, other = _named("one", "a"), _named("other", "a", 1)
    assert [match.value for match in read("a", one, other)] == ["other"]
    assert [match.value for match in read("a", _named("one", "a"), _named("two", "a"))] == ["one"]


def test_a_rule_may_begin_with_what_it_makes() -> None:
    one = rule("one", "top", "a", lambda state: 1)
    more = rule("more", "top", "<top> a", lambda state, count: count + 1)
    (match,) = read("a a a", one, more)
    assert match.value == 3
    assert match.trace() == ("more", "one")


def test_a_rule_is_given_the_state_and_may_decline() -> None:
    assert [match.value for match in read("a", rule("it", "top", "a", lambda state: state))] == [
        "state"
    ]
    assert read("a", rule("it", "top", "a", lambda state: None)) == []


def test_a_disabled_rule_is_not_applied() -> None:
    assert read("a", _named("one", "a"), disabled=frozenset({"one"})) == []


def test_a_terminal_finds_values_by_a_function() -> None:
    twice = rule("twice", "top", "<shout> <shout>", lambda state, one, other: one + other)
    assert [match.value for match in read("ha ha", twice)] == ["!!"]


def test_a_terminal_is_sought_only_where_a_pattern_needs_it() -> None:
    sought = []

    def any_word(reading: Reading, at: int) -> list[tuple[int, str]]:
        sought.append(at)
        return [(at + 1, reading.lower(at))]

    pattern = rule("top", "top", "a <any>", lambda _, word: word)
    grammar = Grammar([pattern], classes={}, conditions={}, terminals={"any": any_word})
    text = "x y a b a"
    reading = Reading(grammar, text, lexemes(text, 0, len(text)), None)
    assert [match.value for match in reading.best(frozenset({"top"}))] == ["b"]
    assert [match.value for match in reading.starting("any", 3)] == ["b"]
    assert sought == [3]


def test_examples_are_read_from_lines() -> None:
    told = rule("it", "top", "a", lambda state: 1, "a b -> 1\n  c -> 2 3 ")
    assert [tuple(example) for example in told.examples] == [("a b", "1"), ("c", "2 3")]


@pytest.mark.parametrize("pattern", ["(a", "a)", "<a", "{a"])
def test_a_bracket_that_is_not_closed_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        read("a", _named("it", pattern))


@pytest.mark.parametrize("unit", ["a ", "a a b ", "1 "])
def test_the_steps_grow_with_the_text_and_not_faster(unit: str) -> None:
    made = 0

    def count(state: object, *_: object) -> int:
        nonlocal made
        made += 1
        return 1

    counts = []
    for times in (100, 200):
        made = 0
        read(
            unit * times,
            rule("one", "top", "a|#", count),
            rule("more", "top", "<top> <top>", count),
        )
        counts.append(made)
    assert counts[1] <= 2.1 * counts[0]
