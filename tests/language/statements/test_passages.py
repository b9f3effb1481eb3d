"""What tells little by itself is told with the sentences beside it."""

from __future__ import annotations

import pytest

from recollect.streams.language.statements.statements import analyse

AT_MS = 1_767_607_200_000


def facts(text: str) -> list[str]:
    return [each.text for each in analyse(text, speaker="Ada", at_ms=AT_MS).statements]


def test_a_short_statement_is_told_with_the_sentence_beside_it() -> None:
    (fact,) = facts("I carved a wooden owl. It stands on the shelf in my kitchen.")
    assert fact == "Ada carved a wooden owl. It stands on the shelf in Ada's kitchen."


def test_what_fills_a_slot_is_told_alone() -> None:
    assert "Ada lives in Ghent." in facts(
        "I live in Ghent. The rent is high and the walls are thin."
    )


@pytest.mark.parametrize(
    "beside",
    [
        "Could you send me the bill?",
        "Thanks, Tom!",
        "You always know what to say.",
        "Please write me a poem about it.",
        '"It was the best night," Tom wrote.',
    ],
)
def test_what_is_said_to_somebody_or_by_somebody_else_is_not_told_with_it(beside: str) -> None:
    told = facts(f"I sold the canoe on Monday. {beside}")
    assert any("Ada sold the canoe on Monday" in fact for fact in told)
    assert not any(beside.split()[-1].strip('.?!"') in fact for fact in told)


def test_nobody_is_told_of_who_may_be_somebody_else() -> None:
    told = facts("Tom and Bob came to the harbour. He bought my canoe.")
    assert not any("He bought" in fact for fact in told)


def test_another_paragraph_is_not_told_with_it() -> None:
    told = facts("I sold the canoe on Monday.\n\nThe garden is full of snails again.")
    assert not any("canoe" in fact and "snails" in fact for fact in told)


def test_no_more_is_told_together_than_is_read_at_once() -> None:
    many = " ".join(f"The {nth} crate of apples stood by the gate." for nth in ("big", "old") * 20)
    told = facts(f"I sold the canoe on Monday. {many}")
    assert max(len(fact.split()) for fact in told) <= 60


def test_the_parts_of_a_sentence_of_which_one_led_to_the_other_stay_apart() -> None:
    analysis = analyse(
        "I lost my job yesterday, so I am opening a bakery. The bank said yes.",
        speaker="Ada",
        at_ms=AT_MS,
    )
    assert len(analysis.statements) >= 2
    assert analysis.causes


@pytest.mark.parametrize(
    "short", ["kelp: asleep in a box", "one pencil, half a soul", "I accept this flood"]
)
def test_a_short_message_that_tells_little_is_no_fact(short: str) -> None:
    assert facts(short) == []


def test_no_sentence_is_told_twice() -> None:
    told = facts(
        "I sold the canoe on Monday. It stood in my garden for years. Bea bought my kayak in May."
    )
    assert sum("in Ada's garden" in fact or "in my garden" in fact for fact in told) == 1


def test_what_a_passage_mentions_stands_in_the_order_of_its_words() -> None:
    (statement,) = analyse(
        "The 3 crates came from Oslo. I gave one to Bea.", speaker="Ada", at_ms=AT_MS
    ).statements
    starts = [each.start for each in statement.mentions]
    assert len(starts) >= 2
    assert starts == sorted(starts)


def test_a_few_words_of_a_short_message_are_told_with_what_goes_before_them() -> None:
    told = facts("I got the job at Halden. I signed this morning, I start on 13 April.")
    assert "Ada got the job at Halden. Ada signed this morning (2026-01-05)." in told
    assert "Ada got the job at Halden. Ada starts on 13 April (2026-04-13)." in told


@pytest.mark.parametrize(
    "before",
    [
        "Compost is Tuesday, paper too.",  # its own fact may be corrected, and this one stays
        "Could you open the gate?",
        "Wow, splendid!",
        "Noted.",
        "She told me about the storm.",
    ],
)
def test_what_may_be_corrected_or_tells_nothing_does_not_go_before(before: str) -> None:
    told = facts(f"{before} I sold the red canoe.")
    assert "Ada sold the red canoe." in told
