"""What facts are to other facts (C9): they update, extend or derive from one before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.schemas.wire import Fact
from tests.library.kit import said

#: What somebody said ("Who: what"), one message a minute.
Talk = tuple[str, ...]
#: What a fact is to another: its type, a word of the fact and a word of that other.
Found = set[tuple[str, str, str]]

#: name -> what is said, and what the facts are to each other. A word names the one fact that has
#: it and none of the other words of the case.
TABLE: dict[str, tuple[Talk, Found]] = {
    # EXTENDS: a word says so, in one message
    "also, with a shared verb": (
        ("Ada: I play the violin. I also play the cello.",),
        {("EXTENDS", "cello", "violin")},
    ),
    "also, right behind": (
        ("Ada: I live in Turin. I also have two cats.",),
        {("EXTENDS", "cats", "Turin")},
    ),
    "moreover": (
        ("Ada: I work at Acme. Moreover, I volunteer at the shelter on Mondays.",),
        {("EXTENDS", "shelter", "Acme")},
    ),
    "in addition": (
        ("Ada: I work at Acme. In addition, I volunteer at the shelter on Mondays.",),
        {("EXTENDS", "shelter", "Acme")},
    ),
    "furthermore": (
        ("Ada: I own a bakery in Rome. Furthermore, I own a farm near Siena.",),
        {("EXTENDS", "farm", "bakery")},
    ),
    "additionally": (
        ("Ada: I own a bakery in Rome. Additionally, I run a hotel in Siena.",),
        {("EXTENDS", "hotel", "bakery")},
    ),
    "on top of that": (
        ("Ada: I lost my job at Acme in May. On top of that, I broke my arm in June.",),
        {("EXTENDS", "arm", "job")},
    ),
    "besides": (
        ("Ada: I own a bakery in Rome. Besides, I rent a stall in Siena.",),
        {("EXTENDS", "stall", "bakery")},
    ),
    "plus": (
        ("Ada: I own a bakery in Rome. Plus I rent a stall in Siena.",),
        {("EXTENDS", "stall", "bakery")},
    ),
    "as well, with a shared word": (
        ("Ada: I teach maths in Rome. I teach physics as well.",),
        {("EXTENDS", "physics", "maths")},
    ),
    "too, with a shared word": (
        ("Ada: I teach maths in Rome on Mondays. I teach physics in Siena too.",),
        {("EXTENDS", "physics", "maths")},
    ),
    "of somebody who is named": (
        ("Ada: Ana lives in Turin. Ana also owns a bakery in Rome.",),
        {("EXTENDS", "bakery", "Turin")},
    ),
    "of my sister": (
        ("Ada: My sister plays the violin. My sister also plays the cello.",),
        {("EXTENDS", "cello", "violin")},
    ),
    "the one that shares more, not the nearest": (
        ("Ada: I play the violin. I live in Turin. I also play the cello.",),
        {("EXTENDS", "cello", "violin")},
    ),
    "also in the second half of a sentence": (
        ("Ada: I play the violin in Turin, and I also play the cello in Rome.",),
        {("EXTENDS", "cello", "violin")},
    ),
    # EXTENDS: a word says so, in a message after
    "also, a message later": (
        ("Ada: I play the violin.", "Bob: Nice!", "Ada: I also play the cello in an orchestra."),
        {("EXTENDS", "cello", "violin")},
    ),
    "another": (
        ("Ada: We have a cat called Tom.", "Bob: ok", "Ada: We got another cat named Bailey."),
        {("EXTENDS", "Bailey", "Tom")},
    ),
    "besides what is named": (
        (
            "Ada: I teach the pottery classes on Mondays.",
            "Bob: Great.",
            "Ada: Besides the pottery classes, I coach a rugby team on Fridays.",
        ),
        {("EXTENDS", "rugby", "teaches")},
    ),
    "of a name that another said": (
        ("Bob: Ana plays the violin in a band.", "Ada: Ana also plays the cello in a band."),
        {("EXTENDS", "cello", "violin")},
    ),
    # EXTENDS: slots that gain a value, or of whose value more is told
    "a further thing that is liked": (
        ("Ada: I love hiking in the Alps.", "Ada: I like jazz."),
        {("EXTENDS", "jazz", "hiking")},
    ),
    "a further pet": (
        ("Ada: I have two cats.", "Bob: Aha.", "Ada: I have a dog called Rex."),
        {("EXTENDS", "Rex", "cats")},
    ),
    "a further skill, of the one that shares most": (
        ("Ada: I play the violin.", "Ada: I speak Dutch.", "Ada: I play the cello."),
        {("EXTENDS", "cello", "violin")},
    ),
    "more of a value": (
        ("Ada: I like jazz.", "Ada: I like jazz from New Orleans."),
        {("EXTENDS", "Orleans", "likes jazz.")},
    ),
    "more of a home": (
        ("Ada: I live in Turin.", "Ada: I live in a flat in Turin with a balcony."),
        {("EXTENDS", "balcony", "lives in Turin.")},
    ),
    "more of the same value": (
        ("Ada: I live in Turin.", "Ada: I live in Turin, near the river and the old market."),
        {("EXTENDS", "river", "lives in Turin.")},
    ),
    # DERIVES
    "therefore": (
        ("Ada: I broke my leg. Therefore I can't run the marathon.",),
        {("DERIVES", "marathon", "leg")},
    ),
    "so, in one sentence": (
        ("Ada: My brother lost his job at Acme, so he moved to Rome.",),
        {("DERIVES", "Rome", "Acme.")},
    ),
    "so, of what one can't do": (
        ("Ada: I broke my leg. So I can't run the marathon.",),
        {("DERIVES", "marathon", "leg")},
    ),
    "that means": (
        ("Ada: I sold my boat in Genoa. That means I can't sail to Turin.",),
        {("DERIVES", "Turin", "Genoa")},
    ),
    "it follows": (
        ("Ada: I sold my boat in Genoa. It follows that I can't sail to Turin.",),
        {("DERIVES", "Turin", "Genoa")},
    ),
    "that's why, a message later": (
        ("Ada: I broke my leg.", "Ada: That's why I missed the concert."),
        {("DERIVES", "concert", "leg")},
    ),
    "because of what was named": (
        (
            "Bob: A storm hit our village on Monday.",
            "Ada: My flight to Oslo was cancelled because of the storm.",
        ),
        {("DERIVES", "Oslo", "village")},
    ),
    # UPDATES
    "a newer home": (
        ("Ada: I live in Turin.", "Ada: I moved to Rome."),
        {("UPDATES", "Rome", "Turin")},
    ),
    "an update adds to nothing": (
        ("Ada: I live in Turin.", "Ada: I also moved to Rome in May."),
        {("UPDATES", "Rome", "Turin")},
    ),
    "who likes it now": (
        ("Ada: I like jazz.", "Ada: I hate olives.", "Ada: I like olives."),
        {("UPDATES", "likes olives", "hates olives")},
    ),
    # None at all
    "two people": (("Ada: My brother lives in Turin. I also live in Turin.",), set()),
    "me too": (
        ("Ada: I sing in a choir.", "Bob: I play chess in a club.", "Ada: I play chess too."),
        set(),
    ),
    "also, as another does": (
        (
            "Ada: I sing in the choir in Porto.",
            "Bob: I play the violin in a quartet.",
            "Ada: I also play the violin in a quartet.",
        ),
        set(),
    ),
    "also, as another does, though one's own is near": (
        (
            "Ada: I painted the shed of my uncle in Rome.",
            "Bob: I painted the fence of my uncle in Siena.",
            "Ada: I also painted the fence of my uncle in Pisa.",
        ),
        set(),
    ),
    "too, behind something else": (
        (
            "Bob: I restore old clocks in Siena.",
            "Ada: I live in Turin with my sister. I restore old clocks too.",
        ),
        set(),
    ),
    "another of somebody else's": (
        ("Bob: We have a cat called Tom.", "Ada: We got another cat named Bailey."),
        set(),
    ),
    "my brother's, a message later": (
        (
            "Ada: My brother plays the violin in a band.",
            "Bob: ok",
            "Ada: I also play the violin in a band in Rome.",
        ),
        set(),
    ),
    "nothing new": (
        ("Ada: I own a farm in the hills near Rome.", "Ada: I also own a farm near Rome."),
        set(),
    ),
    "another's slot": (("Ada: I like jazz.", "Bob: I like opera."), set()),
    "too much": (("Ada: I live in Turin. I paid too much rent for my flat.",), set()),
    "as well as": (
        ("Ada: I live in Turin. My sister sings as well as my mother did in Rome.",),
        set(),
    ),
    "also known as": (
        ("Ada: I live in Turin. Turin, also known as Augusta, has a river.",),
        set(),
    ),
    "another day": (
        ("Ada: I met Ben on a day in May.", "Ada: I met Carl on another day in June."),
        set(),
    ),
    "another of yours": (
        ("Ada: I finished a painting of the sea.", "Ada: I'd love to see another painting of Bob."),
        set(),
    ),
    "one another": (
        ("Ada: My sisters Ana and Eva live in Turin. They text one another every day.",),
        set(),
    ),
    "what is only supposed": (
        ("Ada: I play the violin in a band. If I also played the cello I would be rich.",),
        set(),
    ),
    "somebody else's words": (
        ('Ada: I play the violin in a band. Bob said: "I also play the cello in a band."',),
        set(),
    ),
    "a question": (("Ada: I play the violin in a band. Do you also play the cello?",), set()),
    "nothing shared, a message later": (
        ("Ada: I live in Turin.", "Bob: ok", "Ada: I also painted the shed in May."),
        set(),
    ),
    "the same again": (("Ada: I like jazz.", "Ada: I really like jazz."), set()),
    "less than before": (("Ada: I like jazz from New Orleans.", "Ada: I like jazz."), set()),
    "what an assistant said": (
        ("Bot: Ada plays the violin in a band.", "Ada: I also play the cello in a band."),
        set(),
    ),
    "because explains": (("Ada: I missed the concert because I broke my leg.",), set()),
    "so much": (("Ada: I broke my leg. So much for the marathon in May.",), set()),
    "what is done for something": (
        ("Ada: I bought a bike in Turin so I can ride to my office in Rome.",),
        set(),
    ),
    "it means a lot": (
        ("Ada: My sister moved to Turin in May. That means the world to me.",),
        set(),
    ),
    "so, in a story": (("Ada: I met Ben in Turin. So we went to Rome in May.",), set()),
    "a value that had ended": (
        ("Ada: I like jazz.", "Ada: I hate jazz.", "Ada: I like opera."),
        {("UPDATES", "hates jazz", "likes jazz")},
    ),
}


def told(talk: Talk) -> list[dict[str, Any]]:
    """Return the events of a talk."""
    events = []
    for minute, line in enumerate(talk):
        who, _, words = line.partition(": ")
        extra = {"direction": "out"} if who == "Bot" else {}
        events.append(said(f"m-{minute}", words, by=who, minute=minute, **extra))
    return events


def related(facts: Sequence[Fact]) -> set[tuple[str, str, str]]:
    """Return (type, text of the fact, text of the other) of all relations."""
    texts = {fact.id: fact.text for fact in facts}
    return {(one.type, fact.text, texts[one.fact_id]) for fact in facts for one in fact.relations}


def all_facts(zone: Zone) -> list[Fact]:
    return list(zone.facts(superseded=True, limit=1_000))


@pytest.mark.parametrize("name", TABLE)
def test_a_talk_gives_these_relations_and_no_others(tmp_path: Path, name: str) -> None:
    talk, expected = TABLE[name]
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("talk")
        zone.ingest(told(talk))
        facts = all_facts(zone)
        found = related(facts)
        for type_, word, other in expected:
            fitting = [each for each in found if each[0] == type_ and word in each[1]]
            assert [each for each in fitting if other in each[2]], (type_, word, other, found)
        assert len(found) == len(expected), found
        for fact in facts:
            assert all(0.0 < one.confidence <= 1.0 for one in fact.relations)


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(TABLE) >= 40
    assert sum(not expected for _, expected in TABLE.values()) >= 15


# What it rests on


@pytest.fixture
def zone(tmp_path: Path) -> Any:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect.zone("talk")


THREE = (
    said("a", "I play the violin in a band.", minute=0),
    said("b", "I also play the cello in a band.", minute=1),
    said("c", "That's why I have no time on Fridays.", minute=2),
)
THERE = {
    ("EXTENDS", "Ada also plays the cello in a band.", "Ada plays the violin in a band."),
    ("DERIVES", "Ada has no time on Fridays.", "Ada also plays the cello in a band."),
}


@pytest.mark.parametrize(
    ("forgotten", "left"),
    [
        ("a", {each for each in THERE if each[0] == "DERIVES"}),
        # Then it is the violin that is "why".
        (
            "b",
            {("DERIVES", "Ada has no time on Fridays.", "Ada plays the violin in a band.")},
        ),
        ("c", {each for each in THERE if each[0] == "EXTENDS"}),
    ],
)
def test_once_either_end_is_forgotten_the_relation_is_gone(
    zone: Zone, forgotten: str, left: set[tuple[str, str, str]]
) -> None:
    zone.ingest(list(THREE))
    assert related(all_facts(zone)) == THERE
    zone.forget(forgotten)
    held = {fact.id for fact in all_facts(zone)}
    assert all(one.fact_id in held for fact in all_facts(zone) for one in fact.relations)
    assert related(all_facts(zone)) == left
    assert zone.verify().ok


def everything(zone: Zone) -> list[Fact]:
    return sorted(all_facts(zone), key=lambda fact: fact.id)


def test_a_zone_that_is_rebuilt_has_the_same_relations(zone: Zone) -> None:
    for number, (talk, _) in enumerate(TABLE.values()):
        zone.ingest(
            [
                {**event, "id": f"{number}-{event['id']}", "thread_id": f"t{number}"}
                for event in told(talk)
            ]
        )
    before = everything(zone)
    assert sum(len(fact.relations) for fact in before) > 30
    hashes = {model.model: model.hash for model in zone.verify().models}
    for level in ("index", "project", "derive"):
        zone.rebuild(level=level)
        assert everything(zone) == before
        report = zone.verify()
        assert report.ok, report.problems
        assert {model.model: model.hash for model in report.models} == hashes


SAID = (
    said("1", "I like jazz.", minute=0, thread_id="x"),
    said("2", "I hate olives.", minute=10, thread_id="x"),
    said("3", "I like opera.", minute=20, thread_id="x"),
    said("4", "I like olives.", minute=30, thread_id="x"),
    said("5", "I like opera from Italy.", minute=40, thread_id="x"),
)


@pytest.mark.parametrize("order", [*permutations(range(5))][::7])
def test_in_whatever_order_they_are_learnt_slots_gain_the_same(
    zone: Zone, order: tuple[int, ...]
) -> None:
    """Two exports of one day may come one after the other."""
    for place in order:
        zone.ingest([SAID[place]])
    assert related(all_facts(zone)) == {
        ("EXTENDS", "Ada likes opera.", "Ada likes jazz."),
        ("UPDATES", "Ada likes olives.", "Ada hates olives."),
        ("EXTENDS", "Ada likes opera from Italy.", "Ada likes opera."),
    }


def test_of_one_person_under_two_accounts_a_slot_gains_once_they_are_merged(zone: Zone) -> None:
    zone.ingest(
        [said("1", "I like jazz.", by="Ada"), said("2", "I like opera.", by="Mo", minute=5)]
    )
    assert related(all_facts(zone)) == set()
    ada, mo = zone.get_entity("Ada"), zone.get_entity("Mo")
    zone.propose_merge(ada.id, mo.id, 0.5, "the same voice")
    (waiting,) = [merge for merge in zone.merges() if merge.status == "pending"]
    merged = zone.decide_merge(waiting.id, "merged")
    assert related(all_facts(zone)) == {("EXTENDS", "Mo likes opera.", "Ada likes jazz.")}
    zone.decide_merge(merged.merge_id or merged.id, "undone")
    assert related(all_facts(zone)) == set()


def test_a_value_that_is_told_again_much_later_adds_nothing(zone: Zone) -> None:
    later = "2026-07-01T10:00:00Z"
    zone.ingest(
        [
            said("1", "I live in Turin.", minute=0),
            said("2", "I live in Turin, near the river and the old market.", minute=1),
            said("3", "I live in Turin.", occurred_at=later, thread_id="x"),
            said("4", "I like jazz.", minute=2),
            said("5", "I like opera.", minute=3),
            said("6", "I like jazz.", occurred_at=later, thread_id="x"),
        ]
    )
    assert len(all_facts(zone)) == 4
    assert related(all_facts(zone)) == {
        (
            "EXTENDS",
            "Ada lives in Turin, near the river and the old market.",
            "Ada lives in Turin.",
        ),
        ("EXTENDS", "Ada likes opera.", "Ada likes jazz."),
    }


def test_what_was_said_again_adds_to_nothing_that_came_after_it(zone: Zone) -> None:
    """The fact that is repeated is older than the one behind which it is said."""
    zone.ingest([said("1", "I play the cello in a band.", minute=0)])
    zone.ingest([said("2", "I bought a bike in Rome. I also play the cello in a band.", minute=1)])
    times = {fact.id: fact.as_of for fact in all_facts(zone)}
    for fact in all_facts(zone):
        assert all(times[one.fact_id] <= fact.as_of for one in fact.relations)


def test_why_tells_what_a_fact_is_to_others_from_both_ends(zone: Zone) -> None:
    told = "I lost my job at Acme in May. On top of that, I broke my arm in June."
    zone.ingest([said("a", told), said("b", "That's why I moved to Rome.", minute=1)])
    job, arm, rome = (
        next(fact for fact in all_facts(zone) if word in fact.text)
        for word in ("Acme", "arm", "Rome")
    )

    def shown(fact: Fact) -> list[str]:
        words = ("extends", "extended by", "derives", "gives rise to")
        return [
            step.description
            for step in zone.why(fact.id).steps
            if step.description.startswith(words)
        ]

    assert shown(job) == [f"extended by fact {arm.id} (confidence 0.6)"]
    assert shown(arm) == [
        f"extends fact {job.id} (confidence 0.6)",
        f"gives rise to fact {rome.id} (confidence 0.8)",
    ]
    assert shown(rome) == [f"derives from fact {arm.id} (confidence 0.8)"]


def test_without_the_step_there_are_none(tmp_path: Path) -> None:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True, without=["evolution"])
    with Recollect(home) as recollect:
        zone = recollect.zone("talk")
        zone.ingest([*THREE, *SAID])
        assert related(all_facts(zone)) == set()
