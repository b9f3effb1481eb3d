"""The text of an observation: dated parts of facts, in order of time."""

from __future__ import annotations

import random

import pytest

from recollect.streams.consolidation.observation_text import (
    MAX_ITEMS,
    Evidence,
    chosen_units,
    is_change,
    item_text,
    render_topic,
    render_values,
)

#: 2026-01-05, a Monday.
START, DAY = 1_767_607_200_000, 86_400_000


def evidence(
    text: str, day: int, *, word: str = "horse", ended: int | None = None, speaker: str = ""
) -> Evidence:
    at = START + day * DAY
    return Evidence(f"F{day:03}", text, speaker, "Ada", word, at, None, ended)


HORSES = [
    evidence("Ada bought a horse from her uncle.", 0),
    evidence("Ada rides her horse along the river at dawn.", 7),
    evidence("Ada's horse won the spring race (2026-01-18).", 14),
    evidence("The horse hurt my knee badly.", 21, speaker="Ada"),
]


def text_of(of: list[Evidence]) -> str:
    rendered = render_topic(of)
    assert rendered is not None
    return rendered.text


def test_parts_are_dated_and_in_order_of_time() -> None:
    assert text_of(HORSES) == (
        "Ada – horse: bought a horse from her uncle (said 5 Jan 2026); rides her horse along the "
        "river at dawn (said 12 Jan 2026); Ada's horse won the spring race (18 Jan 2026); "
        "“The horse hurt my knee badly” (said 26 Jan 2026)."
    )


def test_the_text_does_not_depend_on_the_order_of_the_facts() -> None:
    draw = random.Random(7)
    for _ in range(20):
        assert text_of(draw.sample(HORSES, len(HORSES))) == text_of(HORSES)


def test_each_part_cites_the_fact_that_says_it() -> None:
    rendered = render_topic(HORSES)
    assert rendered is not None
    texts = {each.fact_id: each.text for each in HORSES}
    assert [item.fact_id for item in rendered.items] == ["F000", "F007", "F014", "F021"]
    for item in rendered.items:
        words = rendered.text[item.start : item.end].split(" (")[0].strip("“”")
        assert words in texts[item.fact_id]


def test_a_part_does_not_begin_with_a_link_to_the_sentence_before() -> None:
    linked = evidence("However, Ada brushes the horse at noon.", 3)
    quoted = evidence("But I fed the horse twice.", 4, speaker="Ada")
    text = text_of([*HORSES, linked, quoted])
    assert "; brushes the horse at noon (said 8 Jan 2026); " in text
    assert "“But I fed the horse twice” (said 9 Jan 2026)" in text


def test_the_span_of_a_calendar_entry_is_its_day_and_its_times() -> None:
    meeting = evidence("Vet for the horse (2026-01-20 09:00:00 to 2026-01-20 10:30:00)", 3)
    trip = evidence("Trip with the horse (2026-01-20 22:00:00 to 2026-01-21 04:00:00)", 4)
    text = text_of([*HORSES, meeting, trip])
    assert "vet for the horse (20 Jan 2026, 09:00 to 10:30); " in text
    assert "trip with the horse (20 Jan 2026 22:00 to 21 Jan 2026 04:00)" in text


def test_what_leans_on_another_text_gives_way_to_what_stands_alone() -> None:
    leaning = evidence("Ada follows this approach with the horse.", 1)
    alone = evidence("Ada follows the approach of Oslo with the horse.", 2)
    assert chosen_units([leaning, alone])[0] == alone


def test_a_change_is_what_a_sentence_says_of_its_subject() -> None:
    for text in (
        "Ada sold a horse.",
        "After lunch, Ada sold a horse.",
        "Ada's sister has moved to Oslo.",
        "Ada no longer rides.",
    ):
        assert is_change(text), text
    for text in (
        "Since Ada only graduated from junior high school, thick books are hard for Ada.",
        "Ada cooks rice as Ada's mother used to do it.",
        "Ada feels calm, no longer facing the dilemma.",
    ):
        assert not is_change(text), text


def test_what_speaks_against_is_always_in() -> None:
    likes = [
        evidence(f"Ada enjoys chess with friend number {n}.", n, word="chess") for n in range(30)
    ]
    dislikes = evidence("Ada hates chess.", 40, word="chess")
    text = text_of([*likes, dislikes])
    assert "enjoys chess with friend number 0 (said 5 Jan 2026)" in text
    assert "hates chess (said 14 Feb 2026)" in text


def test_what_is_no_longer_so_says_so() -> None:
    over = evidence("Ada keeps a horse at the old mill.", 3, ended=START + 20 * DAY)
    text = text_of([*HORSES, over])
    assert "(no longer so; keeps a horse at the old mill, said 8 Jan 2026)" in text


def test_an_event_stays_true_when_its_result_ends() -> None:
    bought = evidence("Ada bought a grey mule for the farm.", 3, ended=START + 20 * DAY)
    text = text_of([*HORSES, bought._replace(is_event=True)])
    assert "; bought a grey mule for the farm (said 8 Jan 2026, ended since);" in text


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ada groomed the horse by the pond in the evening.", ""),
        ("Ada has groomed the horse by the pond.", ""),
        ("I keep the horse by the pond of my uncle.", "Ada"),
    ],
)
def test_what_was_done_or_quoted_is_not_told_as_ended(text: str, speaker: str) -> None:
    over = evidence(text, 3, ended=START + 20 * DAY, speaker=speaker)
    assert text_of([*HORSES, over]) == text_of(HORSES)


def test_days_replace_the_words_that_mean_them() -> None:
    days = ("2026-01-18", "2026-01-18")
    lines = (
        "Yesterday (2026-01-18) Ada sold a lame horse to the miller.",
        "Ada took a young horse to the vet yesterday (2026-01-18).",
        "Ada brushed the mare this morning (2026-01-18) in the rain.",
    )
    told = [evidence(line, 14)._replace(fact_id=line, days=days) for line in lines]
    text = text_of([*HORSES[:2], *told])
    assert "; took a young horse to the vet (18 Jan 2026);" in text
    assert "; sold a lame horse to the miller (18 Jan 2026)" in text
    assert "; brushed the mare (18 Jan 2026) in the rain" in text


def item_of(text: str) -> str:
    """Return the item of a unit about 4 May 2026; quoted if it begins with a speaker."""
    days = ("2026-05-04", "2026-05-04")
    speaker = "Ada" if text.startswith("Ada: ") else ""
    unit = evidence(text.removeprefix("Ada: "), 11)._replace(days=days, speaker=speaker)
    return item_text(unit)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Ada shows her horse on 4 May (2026-05-04).", "shows her horse on 4 May 2026"),
        ("Ada shows her horse on May 4th (2026-05-04).", "shows her horse on May 4th, 2026"),
        ("On 4 May 2026 (2026-05-04), a horse ran.", "on 4 May 2026, a horse ran"),
        (
            "Ada sells a horse in June (2026-06-01 to 2026-06-30), in Graz.",
            "sells a horse in June 2026, in Graz",
        ),
        ("Ada sells a horse in June (June 2026), in Graz.", "sells a horse in June 2026, in Graz"),
        ("Ada rode last week (25-30 April 2026).", "rode (25 to 30 Apr 2026)"),
        ("Ada rode last year (2025).", "rode (2025)"),
        # What was resolved to something else is told.
        (
            "Ada sells a horse at the end of May (2026-05-31).",
            "sells a horse at the end of May (31 May 2026)",
        ),
        ("Ada rides on 4 May (2026-05-05).", "rides on 4 May (5 May 2026)"),
        # Quoted words stay as they are, and the days come after them.
        ("Ada: the horse races on 4 May (2026-05-04)", "“the horse races on 4 May” (4 May 2026)"),
        ("Ada: on 4 May (2026-05-04) it races", "“on 4 May (4 May 2026) it races”"),
        ("Ada: my horse won (the race of 2020)", "“my horse won (the race of 2020)” (4 May 2026)"),
    ],
)
def test_a_written_day_is_not_told_twice(text: str, item: str) -> None:
    assert item_of(text) == item


def test_a_repetition_is_no_second_part() -> None:
    again = [evidence("Ada bought a horse from her uncle.", day) for day in range(1, 6)]
    assert text_of([*HORSES, *again]).count("bought a horse") == 1


def test_other_numbers_are_no_repetition() -> None:
    text = text_of([evidence(f"Ada has {n} horses now.", day) for day, n in enumerate("2513")])
    assert all(f"has {n} horses now" in text for n in "2513")


def test_the_text_is_bounded() -> None:
    nouns = [
        "barn",
        "saddle",
        "bridle",
        "meadow",
        "river",
        "race",
        "vet",
        "hay",
        "stable",
        "trail",
        "fence",
        "cart",
        "plough",
    ]
    many = [evidence(f"Ada took the horse to the {noun} number {n} by {noun}side way.", n * 13 + k)
            for n in range(20) for k, noun in enumerate(nouns)]  # fmt: skip
    rendered = render_topic(many)
    assert rendered is not None
    assert len(rendered.items) <= MAX_ITEMS
    assert len(rendered.text.split()) < 250


def test_too_few_parts_make_no_observation() -> None:
    assert render_topic(HORSES[:2]) is None


def value(text: str, day: int) -> Evidence:
    return evidence(text, day, word=text)


def test_values_that_replaced_each_other_are_a_history() -> None:
    rendered = render_values([value("Lima", 30), value("Oslo", 0)], "home", in_turn=True)
    assert rendered is not None
    assert rendered.text == "Ada – home: Oslo (said 5 Jan 2026); then Lima (said 4 Feb 2026)."
    assert render_values([value("Oslo", 0), value("oslo", 3)], "home", in_turn=True) is None


def test_values_side_by_side_are_a_list_from_the_third_on() -> None:
    values = [value("tea", 0), value("chess", 1), value("tea", 2), value("jazz", 3)]
    assert render_values(values[:3], "likes", in_turn=False) is None
    rendered = render_values(values, "likes", in_turn=False)
    assert rendered is not None
    assert rendered.text == (
        "Ada – likes: tea (said 5 Jan 2026); chess (said 6 Jan 2026); jazz (said 8 Jan 2026)."
    )


def test_an_opening_without_its_clause_is_no_part() -> None:
    opening = evidence("After the last race of the horse", 28)
    assert "After the last race" not in text_of([*HORSES, opening])
    whole = evidence("After the last race, Ada sold the horse to Bob.", 28)
    assert "after the last race, Ada sold the horse to Bob" in text_of([*HORSES, whole])


def test_a_topic_is_named_by_the_word_of_most_parts() -> None:
    shops = [
        evidence("Ada opened a shop near the harbour.", 0, word="shop"),
        evidence("Ada painted the front of the shop green.", 7, word="shop"),
        evidence("Ada went shopping with her uncle in Oslo.", 14, word="shopping"),
    ]
    assert text_of(shops).startswith("Ada – shop: ")


def test_what_barely_stopped_is_no_change() -> None:
    assert is_change("Ada stopped smoking.")
    assert not is_change("Ada barely stopped all day.")


@pytest.mark.parametrize(
    ("unclear", "speaker"),
    [
        ("Ada groomed it because it was calm near the horse.", ""),
        ("Here's a picture of Ada's horse in the meadow.", ""),
        ('Ada explains it with an image, like "The horse is a boat.', ""),
        ("No other thoughts on the horse of Ada's cousin.", ""),
        ("Tools for the horse: Brush, bucket, and Ada's hoof pick.", ""),
        ("Kuda itu sangat cepat dan kuat sekali.", "Ada"),
        ("Bob, the horse of the neighbours is the best.", "Ada"),
        ("Verify the feed and the hay of the horse before it rains.", "Ada"),
    ],
)
def test_what_is_not_clear_alone_is_no_part(unclear: str, speaker: str) -> None:
    added = evidence(unclear, 30, speaker=speaker)
    assert text_of([*HORSES, added]) == text_of(HORSES)


def test_only_names_have_capitals_within_the_text() -> None:
    clauses = [
        "It is a pity that Ada's horse limps.",
        "Riding the horse helps Ada.",
        "Unfortunately, Ada lost a horse.",
        "New York has a horse race that Ada likes.",
        "Rose sold Ada a horse.",
        "BMX is not for Ada's horse.",
    ]
    shown = [item_text(evidence(clause, 1)).split()[0] for clause in clauses]
    assert shown == ["it", "riding", "unfortunately,", "New", "Rose", "BMX"]


def test_days_are_told_once_and_by_what_was_said() -> None:
    day = ("2026-01-06", "2026-01-06")
    opened = evidence("Today (2026-01-06), for once, Ada rode a horse (2026-01-06).", 1)
    assert item_text(opened._replace(days=day)) == "for once, Ada rode a horse (6 Jan 2026)"
    spelt = evidence("On January 6th, 2026, a horse came.", 1)
    assert item_text(spelt._replace(days=day)) == "on January 6th, 2026, a horse came"
    lately = evidence("Ada recently rode a horse.", 1)
    assert item_text(lately._replace(days=day)) == "recently rode a horse (said 6 Jan 2026)"


@pytest.mark.parametrize(
    "value",
    [
        "the same as me",
        "don't go often",
        "just resting",
        "feeling a bit tired",
        "'first part",
        "see them once a week",
    ],
)
def test_a_clause_is_no_value(value: str) -> None:
    values = [evidence(text, day) for day, text in enumerate(["tea", "rye bread", "IT", value])]
    rendered = render_values(values, "health", in_turn=False)
    assert rendered is not None
    assert [item.fact_id for item in rendered.items] == ["F000", "F001", "F002"]


def test_a_reflexive_pronoun_is_clear() -> None:
    added = evidence("Ada taught themselves how to shoe a horse.", 30)
    assert "; taught themselves how to shoe a horse" in text_of([*HORSES, added])


def test_what_somebody_said_is_left_out_for_what_happened() -> None:
    talk = 'Bob said "you are the horse girl" and Ada said "yes" about the horse.'
    told = text_of([*HORSES[:3], evidence(talk, 30)])
    assert "horse girl" not in told
    assert told.count(";") == 2
