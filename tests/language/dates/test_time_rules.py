"""Every rule of time is found in its own examples and in none of its counters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.dates.dates_in_text import date_references, find_dates
from recollect.text.dates.found_dates import Found
from recollect.text.dates.time_grammar import all_rules, disable_rules, expressions
from recollect.text.dates.time_values import Now
from recollect.text.declared_rules import Example, Rule
from recollect.text.tokenizer import Tokens, tokenise

#: Friday, 2026-05-08, 13:56.
TODAY, MINUTE = 739_744, 836

RULES = all_rules()
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]
COUNTERS = [(rule, text) for rule in RULES for text in rule.counters]


def written(found: Found) -> str:
    first, last = date.fromordinal(found.first), date.fromordinal(found.last)
    days = first.isoformat() if first == last else f"{first}..{last}"
    return days if found.time is None else f"{days} {found.time}"


def days_of(tokens: Tokens, start: int, end: int) -> str:
    """Return the days of a stretch of text; a question mark stands after what is not certain."""
    certain = find_dates(tokens, TODAY, [], minute=MINUTE)
    here = [
        found
        for found in find_dates(tokens, TODAY, [], every=True, minute=MINUTE)
        if tokens.starts[found.left] < end and start < tokens.ends[found.right - 1]
    ]
    if not here:
        return "nothing"
    day = min(here, key=lambda found: found.is_time)
    time = next((found.time for found in here if found.time), None)
    sure = any(day.left <= each.left < day.right for each in certain)
    return written(day._replace(time=time)) + ("" if sure else " ?")


def meanings(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the rules that took part in each expression of a text, and what it means."""
    tokens = tokenise(text)
    found = []
    for each in expressions(tokens, Now(TODAY, MINUTE, tokens)):
        means = each.when.rule or each.when.kind
        if each.when.kind in ("day", "time"):
            means = days_of(tokens, each.start, each.end)
        found.append((each.match.trace(), means))
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_an_example(rule: Rule) -> None:
    assert rule.examples


def test_the_ids_of_rules_are_their_own() -> None:
    ids = [rule.id for rule in RULES]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("rule", "example"), EXAMPLES, ids=[f"{rule.id}: {example.text}" for rule, example in EXAMPLES]
)
def test_a_rule_is_found_in_its_example(rule: Rule, example: Example) -> None:
    found = meanings(example.text)
    assert any(rule.id in ids and means == example.means for ids, means in found), found


@pytest.mark.parametrize(("rule", "text"), COUNTERS)
def test_a_rule_is_not_found_in_its_counter(rule: Rule, text: str) -> None:
    assert not any(rule.id in ids for ids, _ in meanings(text))


def test_an_id_is_written_without_spaces_or_commas() -> None:
    assert [rule.id for rule in RULES if not re.fullmatch(r"[a-z0-9/-]+", rule.id)] == []


@pytest.fixture
def all_rules_afterwards() -> Iterator[None]:
    yield
    disable_rules(())


@pytest.mark.usefixtures("all_rules_afterwards")
def test_a_rule_that_is_disabled_is_not_found() -> None:
    (found,) = date_references("We met yesterday.", at_ms=0)
    assert found.rules == ("day/near",)
    disable_rules(["day/near"])
    assert date_references("We met yesterday.", at_ms=0) == []
    with pytest.raises(ValueError, match="did you mean 'day/near'"):
        disable_rules(["day/neer"])


_ODD = ["\n", ".", "(", ")", "'", "-", "0", "00", "99", "1st", "31", "2026", "é", "\u202e", ":"]
_WORDS = sorted(
    {word for _, example in EXAMPLES for word in example.text.replace(",", " ,").split()} | {*_ODD}
)


@example(words=["13h", "ago"], gap=" ", at_ms=-62_135_550_600_001)
@example(words=["07.05.2026", "midnight"], gap="", at_ms=0)
@example(words=["\n", "'66", "'66", "Jan."], gap=" ", at_ms=0)
@given(
    st.lists(st.sampled_from(_WORDS), max_size=24),
    st.sampled_from([" ", "", "  "]),
    st.integers(min_value=-62_135_596_800_000, max_value=253_402_300_799_999),
)
def test_any_words_on_any_day_are_read_into_days_in_order(
    words: list[str], gap: str, at_ms: int
) -> None:
    text = gap.join(words)
    found = date_references(text, at_ms=at_ms, every=True)
    assert all(item.first <= item.last for item in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(text[item.start : item.end] == item.text for item in found)
    for certain in date_references(text, at_ms=at_ms):
        assert any(item.start <= certain.start and certain.end <= item.end for item in found)


@pytest.mark.parametrize(
    "unit",
    ["the day after ", "1 day before ", "May 3 to ", "Monday and ", "1-", "1/2/", "first of ",
     "at 7 ", "every Friday at ", "the week after ", "in 2 ", "last ", "two ", "early late ",
     "Sat the 14th ", "on Friday, ", "3 years ago ", "Easter of "],
)  # fmt: skip
def test_twice_the_text_takes_no_more_than_twice_the_steps(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.text import declared_rules as rules

    steps = 0
    walk = rules.Reading._walk

    def counted(*args: object) -> None:
        nonlocal steps
        steps += 1
        walk(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(rules.Reading, "_walk", counted)
    counts = []
    for times in (200, 400):
        steps = 0
        date_references(unit * times, at_ms=0, every=True)
        counts.append(steps)
    assert counts[1] <= 2.2 * counts[0] + 100


@pytest.mark.parametrize(
    ("text", "day", "time"),
    [
        ("The bus leaves on Sunday. Be there at 8:15 pm.", "2026-05-08", "20:15"),
        ("On Sunday we eat lunch at half past one.", "2026-05-10", "13:30"),
        ("We met at 7 in the morning on 4 May.", "2026-05-04", "07:00"),
        ("Call me tonight at 9.", "2026-05-08", "21:00"),
        ("Call me tomorrow at noon.", "2026-05-09", "12:00"),
        ("It ends on 4 May at midnight.", "2026-05-05", "00:00"),
        ("It began at 23:00 and kept us up.", "2026-05-07", "23:00"),
    ],
)
def test_a_time_is_of_the_day_that_its_sentence_names(text: str, day: str, time: str) -> None:
    at_ms = int(datetime(2026, 5, 8, 13, 56, tzinfo=UTC).timestamp() * 1000)
    found = date_references(text, at_ms=at_ms, every=True)
    assert [(item.first, item.time) for item in found if item.is_time] == [(day, time)]


def test_a_day_and_the_time_of_it_are_two() -> None:
    found = date_references("10:30 or 5pm on 2 January", at_ms=0, every=True)
    assert [(item.text, item.first, item.time) for item in found] == [
        ("10:30", "1970-01-02", "10:30"),
        ("5pm", "1970-01-02", "17:00"),
        ("2 January", "1970-01-02", None),
    ]


@pytest.mark.parametrize(("hour", "day"), [("9pm", "2026-05-08"), ("9am", "2026-05-15")])
def test_the_weekday_of_today_with_a_time_ahead_is_today(hour: str, day: str) -> None:
    # A Friday, 13:56.
    at_ms = int(datetime(2026, 5, 8, 13, 56, tzinfo=UTC).timestamp() * 1000)
    for every in (False, True):
        found = date_references(f"Friday {hour}, at my place.", at_ms=at_ms, every=every)
        assert {item.first for item in found} == {day}
