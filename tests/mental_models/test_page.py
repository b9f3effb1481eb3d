"""The page about an entity, made from facts."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from recollect.streams.consolidation.told_values import is_told_of
from recollect.streams.mental_models.page import Block, Page, PageFact, compose, line_text

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


def test_a_page_made_again_analyses_only_new_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    hens = [f"hen named Pip{n}" for n in range(30)]
    pets = [
        fact(f"n{day}", f"Ada has a {hen}.", day=day, attribute="pet", value=hen)
        for day, hen in enumerate(hens)
    ]
    compose(pets, TODAY)
    analysed: list[str] = []

    def counted(value: str, *rest: str) -> bool:
        analysed.append(value)
        return is_told_of(value, *rest)

    monkeypatch.setattr("recollect.streams.mental_models.page.is_told_of", counted)
    cow = fact("n30", "Ada has a cow named Moo.", day=31, attribute="pet", value="cow named Moo")
    compose([*pets, cow], TODAY)
    assert analysed == ["cow named Moo"]


def test_a_single_value_stands_with_those_before_it() -> None:
    assert lines(compose(LIFE, TODAY), "held")[0] == (
        "home: Oslo (said 14 Jan 2026); formerly Turin (said 5 Jan 2026, until 14 Jan 2026)"
    )


def test_several_values_stand_in_order_of_time() -> None:
    assert lines(compose(LIFE, TODAY), "held")[1] == "pet: cat; dog"


def test_a_value_that_ended_is_marked() -> None:
    sold = fact("p1", "Ada has a cat.", attribute="pet", value="cat", ended_at=START + 2 * DAY)
    assert lines(compose([sold], TODAY), "held") == ["pet: no longer cat (7 Jan 2026)"]


def test_an_event_stays_true_when_its_result_ends() -> None:
    of_choir: dict[str, Any] = {
        "attribute": "membership",
        "value": "my choir",
        "ended_at": START + 40 * DAY,
    }
    joined = fact("j", "Ada joined Ada's choir in the old harbour.", **of_choir)
    sings = fact("s", "Ada sings bass in Ada's choir by the harbour.", day=1, **of_choir)
    page = compose([joined, sings], TODAY)
    assert lines(page, "changed") + lines(page, "time") == [
        "joined their choir in the old harbour (said 5 Jan 2026, until 14 Feb 2026)"
    ]
    assert lines(page, "held") == ["membership: no longer their choir (14 Feb 2026)"]
    walk = fact("w", "Ada took a walk with Ada's husband Tom.", attribute="partner", value="Tom",
                ended_at=START + 40 * DAY)  # fmt: skip
    assert lines(compose([walk], TODAY), "time") == [
        "took a walk with their husband Tom (said 5 Jan 2026)"
    ]
    taken_back = fact("x", "Ada painted the choir's boat red.", ended_at=START + 40 * DAY)
    assert lines(compose([taken_back], TODAY), "time") == []


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


def texts(*facts: PageFact) -> list[str]:
    return [block.text for block in in_rank(compose(facts, TODAY))]


def in_rank(page: Page) -> list[Block]:
    events = [block for block in page.blocks if block.section in ("changed", "time")]
    return sorted(events, key=lambda block: block.rank)


def test_an_event_stands_beside_the_value_that_it_gave() -> None:
    page = compose(
        [fact("m1", "Ada joined a rowing club.", attribute="membership", value="rowing club")],
        TODAY,
    )
    assert lines(page, "held") == ["membership: rowing club"]
    assert lines(page, "changed") == ["joined a rowing club (said 5 Jan 2026)"]


@pytest.mark.parametrize(
    ("section", "text"),
    [("changed", "Ada re-joined the rowing club."), ("regular", "Ada has a bi-weekly swim.")],
)
def test_a_compound_counts_as_its_parts(section: str, text: str) -> None:
    page = compose([fact("m1", text)], TODAY)
    assert [block.facts for block in page.blocks if block.section == section] == [("m1",)]


def test_changes_and_other_events_are_ranked_together() -> None:
    ranks = [block.rank for block in in_rank(compose(LIFE, TODAY))]
    assert ranks == list(range(len(ranks)))
    assert len(ranks) > 2


def test_what_refers_to_something_unnamed_is_left_out() -> None:
    assert texts(
        fact("v", "Ada finally talked to them about all that stuff.", day=1),
        fact("c", "Ada repaired the engine of a fishing boat.", day=2),
    ) == [
        "repaired the engine of a fishing boat (said 7 Jan 2026)",
    ]


def test_what_opens_a_sitting_comes_before_what_follows() -> None:
    first = fact("a", "Ada planted a walnut tree.")
    second = fact("b", "Ada repaired a garden fence.", said_at=START + 60_000)
    next_day = fact("c", "Ada painted a kitchen chair.", day=1)
    ranked = in_rank(compose([first, second, next_day], TODAY))
    assert [block.facts[0] for block in ranked] == ["a", "c", "b"]


def test_the_day_on_which_it_was_said_is_no_day_of_its_own() -> None:
    own = fact("z", "Ada planted a walnut tree.", day=9, days=("2026-01-10", "2026-01-10"))
    of_message = fact("a", "Ada repaired a garden fence.", days=("2026-01-05", "2026-01-05"))
    assert in_rank(compose([own, of_message], TODAY))[0].facts == ("z",)


@pytest.mark.parametrize(
    ("text", "recurs"),
    [
        ("Ada goes for a daily run in the park.", True),
        ("Ada rides to the harbour daily.", True),
        ("Ada visits the museum monthly with Bob.", True),
        ("Ada hates the weekly meeting of the council.", True),
        ("Ada learned the daily usage of the pump.", False),
        ("Ada left the monthly report at the bank.", False),
    ],
)
def test_what_is_called_daily_need_not_recur(text: str, recurs: bool) -> None:
    assert bool(lines(compose([fact("a", text)], TODAY), "regular")) == recurs


def test_a_line_does_not_begin_with_a_link_to_the_sentence_before() -> None:
    assert texts(fact("a", "At the same time, Ada sold a red bicycle.")) == [
        "sold a red bicycle (said 5 Jan 2026)"
    ]


def test_days_replace_the_words_that_mean_them() -> None:
    on_monday = ("2026-01-05", "2026-01-05")
    assert texts(
        fact("a", "Yesterday (2026-01-05), Ada sold a red bicycle.", day=1, days=on_monday)
    ) == ["sold a red bicycle (5 Jan 2026)"]
    assert texts(
        fact("a", "Ada took the ferry last Monday (2026-01-05) to a conference.", day=3,
             days=on_monday)
    ) == ["took the ferry (5 Jan 2026) to a conference"]  # fmt: skip
    cold = fact("a", "Last Monday (2026-01-05) was cold in the cabin.", day=3, days=on_monday)
    assert line_text(cold) == "Last Monday (5 Jan 2026) was cold in the cabin"
    assert texts(
        fact("a", "Last Monday (2026-01-05), Ada's choir sang.", day=3, days=on_monday)
    ) == ["Ada's choir sang (5 Jan 2026)"]
    assert texts(
        fact("a", "Ada kept the boat for last Monday (2026-01-05).", day=3, days=on_monday)
    ) == ["kept the boat for last Monday (5 Jan 2026)"]
    assert texts(
        fact("a", "Ada sold a bicycle 2-3 weeks ago (2026-01-05).", day=20, days=on_monday)
    ) == ["sold a bicycle 2-3 weeks ago (5 Jan 2026)"]


def test_a_written_day_gets_its_year_and_quoted_words_stay() -> None:
    on_8 = ("2026-01-08", "2026-01-08")
    assert texts(fact("a", "Ada took the ferry on 8 January (2026-01-08).", day=4, days=on_8)) == [
        "took the ferry on 8 January 2026"
    ]
    small = fact("a", "Ada took the ferry on 8 january (2026-01-08).", day=4, days=on_8)
    assert texts(small) == ["took the ferry on 8 january 2026"]
    whole = fact("a", "Ada sold tea (2026-01-08 00:00 to 2026-01-09 23:59).", day=9)
    assert line_text(whole) == "sold tea (8 to 9 Jan 2026)"
    quoted = fact("a", "The ferry sank on 8 January (2026-01-08)", day=4, days=on_8, speaker="Ada")
    assert line_text(quoted) == "“The ferry sank on 8 January” (8 Jan 2026)"


def test_parts_at_the_ends_that_name_no_topic_are_left_out() -> None:
    assert texts(
        fact("a", "So much has happened - Ada joined a choir in Bonn. It was really great.")
    ) == ["joined a choir in Bonn (said 5 Jan 2026)"]


def test_what_restricts_a_line_stays_in_it() -> None:
    assert texts(fact("a", "Ada rented a cabin by the lake - but not any more.")) == [
        "rented a cabin by the lake - but not any more (said 5 Jan 2026)"
    ]


def test_two_facts_with_the_same_line_stand_once() -> None:
    assert texts(
        fact("a", "Ada made a vase in pottery class."),
        fact("b", "Ada made a vase in pottery class. She really loves it."),
    ) == ["made a vase in pottery class (said 5 Jan 2026)"]


def test_a_passing_state_is_not_held() -> None:
    page = compose(
        [
            fact(
                "a",
                "Ada's holiday is almost over.",
                attribute="…'s holiday is",
                value="almost over",
            ),
            fact("b", "Ada's boat is a dinghy.", attribute="…'s boat is", value="dinghy"),
            fact("c", "Ada's idea of fun is chess.", attribute="…'s idea of is", value="chess"),
        ],
        TODAY,
    )
    assert lines(page, "held") == ["boat: dinghy (said 5 Jan 2026)"]


def test_a_routine_told_twice_is_one_line() -> None:
    rows = [fact("a", "Ada rows every Sunday."), fact("b", "Ada rows every Sunday.")]
    assert lines(compose(rows, TODAY), "regular") == ["rows every Sunday (said 5 Jan 2026)"]


def test_values_of_others_and_loose_words_are_not_held() -> None:
    page = compose(
        [
            fact("a", "Ada's son is nine.", attribute="age", value="nine"),
            fact("b", "Ada's necklace is from Sweden.", attribute="necklace", value="Sweden"),
            fact("c", "Ada's rent is 900 francs.", attribute="rent", value="900 francs"),
        ],
        TODAY,
    )
    held = [block.facts for block in page.blocks if block.section == "held"]
    assert held == [("c",)]


def test_what_another_line_says_stands_once() -> None:
    told = texts(
        fact("a", "Ada made a vase in pottery class. Ada sold the vase to Bob."),
        fact("b", "Ada made a vase in pottery class."),
    )
    assert len(told) == 1


def test_words_without_a_verb_are_no_event() -> None:
    entry = fact("a", "Dinner with Ada in the harbour (2026-01-20 19:00:00 to 2026-01-20 21:00:00)")
    assert texts(entry) == []


def test_what_somebody_else_does_is_no_line() -> None:
    of_bob = fact("b", "Bob repaired the engine of a boat.", beside=(("B", "Bob"),))
    assert texts(of_bob) == []
    assert texts(of_bob._replace(text="Bob repaired the engine of Ada's boat.")) != []


def test_an_end_that_no_fact_tells_is_not_shown() -> None:
    """A message ended the value, but what was read from it does not say so."""
    ended = START + 9 * DAY
    club = fact("c", "Ada joined a rowing club.", attribute="membership", value="rowing club",
                ended_at=ended)  # fmt: skip
    aside = fact("n", "Ada repaired a garden fence.", day=9)
    page = compose([club, aside], TODAY)
    assert lines(page, "held") == []
    assert lines(page, "changed") == ["joined a rowing club (said 5 Jan 2026)"]
    left = fact("n", "Ada gave up the rowing club.", day=9)
    told = compose([club, aside, left], TODAY)
    assert lines(told, "held") == ["membership: no longer rowing club (14 Jan 2026)"]


def test_what_is_told_again_in_other_words_stands_once() -> None:
    opened = fact("a", "Ada opened a bakery with a wooden oven.")
    again = fact("b", "Ada has opened the bakery with a wooden oven.", day=4)
    assert len(texts(opened, again)) == 1
    third = ("2026-01-03", "2026-01-03")
    seventh = ("2026-01-07", "2026-01-07")
    hikes = (
        fact("a", "Ada hiked to the old lighthouse.", days=third),
        fact("b", "Ada hiked to the old lighthouse with muddy shoes.", day=5, days=seventh),
    )
    assert len(texts(*hikes)) == 2


def test_a_value_that_is_part_of_another_stands_once() -> None:
    values = ("chess", "playing chess", "Chess")
    facts = [
        fact(f"l{n}", f"Ada likes {value}.", day=n, attribute="likes", value=value)
        for n, value in enumerate(values)
    ]
    assert lines(compose(facts, TODAY), "held") == ["likes: playing chess"]


def test_a_value_that_is_read_in_turns_is_one_value() -> None:
    told = ("baker", "master baker", "baker", "teacher")
    facts = [
        fact(
            f"r{n}",
            f"Ada is a {value}.",
            day=n,
            attribute="role",
            value=value,
            ended_at=None if n == 3 else START + (n + 1) * DAY,
        )
        for n, value in enumerate(told)
    ]
    (role,) = lines(compose(facts, TODAY), "held")
    assert (
        role
        == "role: teacher (said 8 Jan 2026); formerly baker (said 7 Jan 2026, until 8 Jan 2026)"
    )
    aged = [each._replace(attribute="age", text="Ada is 31.", value="31") for each in facts[:1]]
    aged.append(fact("z", "Ada is 32.", day=1, attribute="age", value="32"))
    assert lines(compose(aged, TODAY), "held") == ["age: 32 (said 6 Jan 2026)"]


def test_a_single_value_stays_if_what_ended_it_states_none() -> None:
    bakes = fact("b", "Ada is a baker.", attribute="role", value="baker", ended_at=START + DAY)
    misread = fact("m", "Ada read of baking.", day=1, attribute="role", value="baking")
    assert lines(compose([bakes, misread], TODAY), "held") == ["role: baker (said 5 Jan 2026)"]


def test_names_alone_are_no_page() -> None:
    said = fact("a", "Bob thinks about Ada.", beside=(("B", "Bob"),))
    assert compose([said, said._replace(id="b", said_at=START + DAY)], TODAY).blocks == ()


def test_a_word_in_capitals_or_small_letters_is_no_name() -> None:
    beside = (("B", "Bob"), ("C", "BALCONY"), ("D", "doorbell"), ("E", "NATO"))
    sold = fact("a", "Ada sold a red bicycle to Bob.", beside=beside)
    (names,) = lines(compose([sold], TODAY), "beside")
    assert set(names.split(", ")) == {"Bob", "NATO"}


def test_what_the_entity_says_of_itself_is_an_event_and_what_others_say_is_not() -> None:
    own = fact("a", "Ada: I sold a red bicycle to a neighbour.", speaker="Ada")
    assert texts(own) == ["“I sold a red bicycle to a neighbour” (said 5 Jan 2026)"]
    assert texts(own._replace(text="Bob: I sold a red bicycle.", speaker="Bob")) == []


def test_what_others_state_of_the_entity_stands_without_them() -> None:
    told = fact("a", "Bob: Ada broke her wrist at training.", day=4, speaker="Bob")
    assert lines(compose([told], TODAY), "time") == [
        "broke her wrist at training (said 9 Jan 2026)"
    ]
    hers = fact("a", "Bob: I painted the red barn with Ada.", day=4, speaker="Bob")
    assert lines(compose([hers], TODAY), "time") == []


def test_own_words_tell_what_happened_to_others() -> None:
    told = fact("a", "Ada: Pip broke his wrist at training.", day=4, speaker="Ada",
                beside=(("P", "Pip"),))  # fmt: skip
    assert lines(compose([told], TODAY), "time") == [
        "“Pip broke his wrist at training” (said 9 Jan 2026)"
    ]
    unnamed = told._replace(text="Ada: He broke his wrist at training.", beside=())
    assert lines(compose([unnamed], TODAY), "time") == []


def test_the_day_of_another_sentence_is_not_that_of_a_line() -> None:
    text = "Ada painted the red barn. The exhibition opens on 15 October (2026-10-15)."
    told = fact("a", text, day=4, days=("2026-10-15", "2026-10-15"))
    assert lines(compose([told], TODAY), "time") == ["painted the red barn (said 9 Jan 2026)"]


def test_a_routine_may_list_its_days_after_a_colon() -> None:
    told = fact("a", "Ada now runs three times a week: Tuesdays, Fridays and Sundays.")
    assert lines(compose([told], TODAY), "regular") == [
        "now runs three times a week: Tuesdays, Fridays and Sundays (said 5 Jan 2026)"
    ]


def test_what_was_done_once_is_no_routine() -> None:
    joined = fact("a", "Ada has joined a choir, rehearsals on Thursdays.")
    started = fact("b", "Ada has started swimming on Wednesdays.", day=1)
    assert lines(compose([joined, started], TODAY), "regular") == [
        "has started swimming on Wednesdays (said 6 Jan 2026)"
    ]


def test_what_somebody_is_doing_on_the_day_of_saying_is_no_event() -> None:
    today = ("2026-01-05", "2026-01-05")
    passing = fact("a", "Ada is working on the red barn today (2026-01-05).", days=today)
    lasting = fact("b", "Ada is working on the red barn.")
    assert lines(compose([passing], TODAY), "time") == []
    assert lines(compose([lasting], TODAY), "time") == [
        "is working on the red barn (said 5 Jan 2026)"
    ]


def test_a_promotion_is_told_in_the_perfect_too() -> None:
    promoted = fact("a", "Ada has been promoted to head of the children's section.")
    assert lines(compose([promoted], TODAY), "changed") == [
        "has been promoted to head of the children's section (said 5 Jan 2026)"
    ]


def test_leaving_a_thing_somewhere_is_no_change() -> None:
    left = fact("a", "Ada left the blue jacket on the boat.")
    quit_ = fact("b", "Ada left the bank in Turin.", day=1)
    assert lines(compose([left, quit_], TODAY), "changed") == [
        "left the bank in Turin (said 6 Jan 2026)"
    ]


def test_a_day_alone_is_no_topic_of_an_event() -> None:
    on_days = fact("a", "Ada is on the 25th AND the 26th.", days=("2026-01-25", "2026-01-26"))
    assert lines(compose([on_days], TODAY), "time") == []


@pytest.mark.parametrize("vaguer_is_later", [True, False])
@pytest.mark.parametrize(
    ("text", "vaguer"),
    [
        ("Ada rented 4 canoes from Carl.", "Ada rented the canoes."),
        ("Ada cycled 90 km in Wales.", "Ada cycled in Wales."),
        ("Ada won 700 euros in the casino.", "Ada won in the casino."),
        ("Ada donated 60 litres of paint to the theatre.", "Ada donated paint to the theatre."),
        ("Ada joined the orchestra in Bergen.", "Ada joined the orchestra."),
    ],
)
def test_a_vaguer_line_hides_no_other(text: str, vaguer: str, vaguer_is_later: bool) -> None:
    facts = (fact("a", text, day=1), fact("b", vaguer, day=5 if vaguer_is_later else 0))
    told = " ".join(texts(*facts))
    assert text.removeprefix("Ada ").removesuffix(".") in told


def test_a_line_hides_none_with_its_words_about_somebody_else() -> None:
    other = "Ada thanked Bob, who varnished the canoe with 3 brushes at the harbour festival."
    facts = (fact("a", "Ada varnished the canoe.", day=1), fact("b", other, day=2))
    assert "varnished the canoe (said 6 Jan 2026)" in texts(*facts)


@pytest.mark.parametrize("vaguer_is_later", [True, False])
def test_a_vaguer_routine_or_plan_hides_no_other(vaguer_is_later: bool) -> None:
    at = 5 if vaguer_is_later else 0
    june = ("2026-06-12", "2026-06-12")
    page = compose(
        [
            fact("a", "Ada swims 2 km in the lake every morning.", day=1),
            fact("b", "Ada swims in the lake every morning.", day=at),
            fact("c", "Ada flies to Rome with 2 friends.", day=1, days=june),
            fact("d", "Ada flies to Rome.", day=at, days=june),
        ],
        TODAY,
    )
    assert "swims 2 km in the lake every morning" in " ".join(lines(page, "regular"))
    assert lines(page, "ahead") == ["flies to Rome with 2 friends (12 Jun 2026)"]


def test_a_line_that_only_says_more_of_the_same_is_left_out() -> None:
    passed = fact("a", "Ada passed the harbour exam.", day=1)
    more = fact("b", "Ada passed the harbour exam. Only 4 of 10 did.", day=1)
    assert len(lines(compose([passed, more], TODAY), "time")) == 1
