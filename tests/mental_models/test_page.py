"""The page about an entity, made from facts."""

from __future__ import annotations

from random import Random

from recollect.streams.mental_models.page import Page, PageFact, compose

DAY = 86_400_000
#: 2026-01-05T10:00:00Z.
START = 1_767_607_200_000
TODAY = "2026-03-01"


def fact(id_: str, text: str, *, day: int = 0, **fields: object) -> PageFact:
    given = {"name": "Ada", "speaker": "", "said_at": START + day * DAY, **fields}
    return PageFact(id=id_, text=text, **given)  # type: ignore[arg-type]


def lines(page: Page, section: str) -> list[str]:
    return [block.text for block in page.blocks if block.section == section]


LIFE = [
    fact("h1", "Ada lives in Turin.", attribute="home", value="Turin", ended_at=START + 9 * DAY),
    fact("h2", "Ada lives in Oslo.", day=9, attribute="home", value="Oslo"),
    fact("p1", "Ada has a cat.", day=1, attribute="pet", value="cat"),
    fact("p2", "Ada has a dog.", day=2, attribute="pet", value="dog"),
    fact("c1", "Ada quit smoking in the summer.", day=3),
    fact("r1", "Ada swims in the lake every morning.", day=4),
    fact("a1", "Ada flies to Rome with Bob.", day=5, days=("2026-06-12", "2026-06-12"),
         beside=(("B", "Bob"),)),
    fact("t1", "Ada painted a red barn.", day=6),
    fact("t2", "Ada won a prize for her novel.", day=7),
    fact("q1", "Ada: What do you think?", day=8, speaker="Ada"),
]  # fmt: skip


def test_a_single_value_stands_with_those_before_it() -> None:
    assert lines(compose(LIFE, TODAY), "held")[0] == (
        "home: Oslo (said 14 Jan 2026); before: Turin (said 5 Jan 2026, until 14 Jan 2026)"
    )


def test_several_values_stand_in_order_of_time() -> None:
    assert lines(compose(LIFE, TODAY), "held")[1] == "pet: cat; dog"


def test_a_value_that_ended_is_marked() -> None:
    sold = fact("p1", "Ada has a cat.", attribute="pet", value="cat", ended_at=START + 2 * DAY)
    assert lines(compose([sold], TODAY), "held") == ["pet: no longer cat (7 Jan 2026)"]


def test_each_section_has_what_its_title_says() -> None:
    page = compose(LIFE, TODAY)
    assert lines(page, "changed") == ["quit smoking in the summer (said 8 Jan 2026)"]
    assert lines(page, "regular") == ["swims in the lake every morning (said 9 Jan 2026)"]
    assert lines(page, "ahead") == ["flies to Rome with Bob (12 Jun 2026)"]
    assert lines(page, "beside") == ["Bob"]
    assert "painted a red barn (said 11 Jan 2026)" in lines(page, "time")


def test_a_day_that_is_over_is_not_ahead() -> None:
    page = compose(LIFE, "2026-07-01")
    assert lines(page, "ahead") == []
    assert "flies to Rome with Bob (12 Jun 2026)" in lines(page, "time")


def test_A12_every_line_cites_facts_that_say_it() -> None:
    known = {each.id: each for each in LIFE}
    for block in compose(LIFE, TODAY).blocks:
        assert block.facts
        assert all(cited in known for cited in block.facts), block


def test_no_fact_stands_in_two_lines_of_events() -> None:
    page = compose(LIFE, TODAY)
    cited = [
        b.facts[0] for b in page.blocks if b.section in ("changed", "regular", "ahead", "time")
    ]
    assert len(cited) == len(set(cited))


def test_questions_are_told_nowhere() -> None:
    assert not any("think" in block.text for block in compose(LIFE, TODAY).blocks)


def test_the_order_of_the_facts_does_not_matter() -> None:
    expected = compose(LIFE, TODAY)
    for seed in range(20):
        shuffled = list(LIFE)
        Random(seed).shuffle(shuffled)
        assert compose(shuffled, TODAY) == expected


def test_F3_untouched_blocks_are_equal_over_a_thousand_refreshes() -> None:
    facts = list(LIFE)
    before = {block.id: block for block in compose(facts, TODAY).blocks}
    for step in range(1_000):
        added = fact(f"n{step}", f"Ada likes tune {step}.", day=20, attribute="likes",
                     value=f"tune {step}")  # fmt: skip
        after = {block.id: block for block in compose([*facts, added], TODAY).blocks}
        for id_ in ("held:home", "held:pet", "changed:c1", "regular:r1", "ahead:a1"):
            assert after[id_].text == before[id_].text
            assert after[id_].facts == before[id_].facts


def test_without_facts_a_page_has_no_blocks() -> None:
    assert compose([], TODAY) == Page("", ())
