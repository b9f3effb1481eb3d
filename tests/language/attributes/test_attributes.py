"""Attributes of people in homes without a reader: what plain clauses give, and what gives none."""

from __future__ import annotations

import pytest

from recollect.schemas.attributes import MULTI_VALUED, SINGLE_VALUED, is_single_valued
from recollect.streams.language.attributes import plain_attributes
from recollect.streams.language.grammar.analysis import Claim
from tests.language.stating import stated

AT = 1_780_000_000_000


def claims(text: str, speaker: str | None = "Ada") -> list[Claim]:
    said = stated(text, speaker=speaker, at_ms=AT).statements
    return [each.claim for each in said if each.claim]


TOLD = [
    ("I live in Lucca.", "home", "Lucca"),
    ("I moved from Berlin to Madrid in March.", "home", "Madrid"),
    ("We moved back to Norway last spring.", "home", "Norway"),
    ("I've just moved house from Bonn to Madrid!", "home", "Madrid"),
    ("I work at Hollis & Wray.", "employer", "Hollis & Wray"),
    ("I work as a glazier.", "role", "glazier"),
    ("I'm a midwife.", "role", "midwife"),
    ("I have two cats.", "pet", "two cats"),
    ("We adopted a greyhound.", "pet", "greyhound"),
    ("I own a sailboat.", "possession", "sailboat"),
    ("I drive a 2011 Fiat Panda.", "possession", "2011 Fiat Panda"),
    ("I love jazz.", "likes", "jazz"),
    ("You know, I love trains too.", "likes", "trains"),
    ("I hate liver.", "dislikes", "liver"),
    ("I don't like crowds.", "dislikes", "crowds"),
    ("I'm allergic to walnuts.", "health", "allergic to walnuts"),
    ("I'm vegan.", "diet", "vegan"),
    ("I play the cello.", "skill", "playing the cello"),
    ("I'm divorced.", "relationship", "divorced"),
    ("I'm from Uruguay.", "origin", "Uruguay"),
    ("I grew up in Porto.", "origin", "Porto"),
    ("I speak Dutch and Turkish.", "language", "Dutch and Turkish"),
    ("I just turned 50!", "age", "50"),
    ("I'm 41 years old.", "age", "41"),
    ("I'm passionate about falconry.", "likes", "falconry"),
    ("We plan to renovate the barn.", "plan", "renovate the barn"),
]

#: What looks like one and gives nothing.
NOTHING = [
    "My late husband Karl was born in Ulm.",
    "I live in Lucca and Ghent.",
    "I'm glad to hear it.",
    "I'll call you at nine.",
    "I work best at night.",
    "I work hard on it.",
    "I work in a hurry.",
    "Tom works in the rain.",
    "I work at the kitchen table.",
    "I'm working on the slides.",
    "I have a question about the lease.",
    "I have a meeting with the bank.",
    "I have to run now.",
    "I have a business to run.",
    "I have a business trip on Monday.",
    "I have the kids this weekend.",
    "I have no idea.",
    "I have a car to return.",
    "I like to just take a look.",
    "I like your idea.",
    "I like this.",
    "I like the second option.",
    "I like how you put that.",
    "I love it!",
    "I love you.",
    "I love that song you sent.",
    "I love the photo.",
    "I love how it's made.",
    "I love the feeling.",
    "I enjoy sharing that knowledge with people.",
    "I start at nine.",
    "I'd love a coffee.",
    "I would like to book a table.",
    "I hate to bother you.",
    "I hate it when that happens.",
    "I prefer Tuesday.",
    "I prefer option two.",
    "I enjoyed the concert.",
    "I'm allergic to small talk.",
    "I'm allergic to Mondays.",
    "I'm married to my work.",
    "I'm engaged in three projects.",
    "I'm single-handedly carrying this.",
    "I'm blind to his faults.",
    "I'm 10 minutes late.",
    "I'm 99% sure.",
    "I'm 20 pages in.",
    "I'm 5 minutes away.",
    "I'm from the support team.",
    "I'm in a meeting.",
    "I'm in.",
    "I'm afraid I can't come.",
    "I'm afraid so.",
    "I'm scared of losing this job.",
    "I'm interested in buying your bike.",
    "I'm good at this.",
    "I'm good.",
    "I'm fine, thanks.",
    "I'm not sure.",
    "I live in fear.",
    "I live for this.",
    "I was moved to tears.",
    "We moved to the next question.",
    "I moved to a new desk.",
    "I play it safe.",
    "I play a role in this.",
    "I speak for everyone here.",
    "I study every evening.",
    "I run the report every Friday, as told.",
    "I drive to work.",
    "I own my mistakes.",
    "I own up to it.",
    "I got the message.",
    "I got a call.",
    "I bought milk.",
    "I opened a window.",
    "I opened the shop for her.",
    "I take the point.",
    "I can read it tonight.",
    "I can play some songs tomorrow.",
    "I can drive you.",
    "I want to be clear.",
    "I want to use this.",
    "I want to go home.",
    "I plan to use that.",
    "I'm going to try it now.",
    "I'm going to the shop.",
    "I'm looking for the file.",
    "I'm saving the file.",
    "I hope to see you soon.",
    "I used to live in Metz.",
    "I used to have a cat.",
    "I no longer eat meat.",
    "I might move to Spain.",
    "If I live in Spain, fine.",
    "I wish I had a dog.",
    "I don't know.",
    "I don't have a car.",
    "I don't want to think about it.",
    "My mother called.",
    "My boss is here.",
    "My wife is waiting.",
    "My dog is sick.",
    "My goal is clear.",
    "She is a nurse.",
    "He lives in Lyon.",
    "They love hiking.",
    "It is a teacher.",
    "She said I live in Rome.",
]


@pytest.mark.parametrize(("text", "attribute", "value"), TOLD)
def test_a_clause_gives_an_attribute(text: str, attribute: str, value: str) -> None:
    assert claims(text) == [Claim("Ada", attribute, value)]


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_looks_like_one_gives_nothing(text: str) -> None:
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Bob Stone lives in Cork.", Claim("Bob Stone", "home", "Cork")),
        ("Maria is allergic to wasps.", Claim("Maria", "health", "allergic to wasps")),
        ("Maria loves opera.", Claim("Maria", "likes", "opera")),
        ("Maria is vegan.", Claim("Maria", "diet", "vegan")),
        ("Tom loves that.", None),
        ("Tom is late.", None),
        ("Tom lives in fear.", None),
    ],
)
def test_somebody_who_is_named_has_attributes_too(text: str, claim: Claim | None) -> None:
    assert claims(text) == ([] if claim is None else [claim])


def test_each_clause_gives_its_own() -> None:
    found = claims("I'm a botanist, I love ferns, and I have two dogs.")
    assert [(each.attribute, each.value) for each in found] == [
        ("role", "botanist"), ("likes", "ferns"), ("pet", "two dogs"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "My brother Tom works at Siemens and lives in Bonn.",
            [
                ("Ada's brother Tom works at Siemens.", Claim("Tom", "employer", "Siemens")),
                ("Ada's brother Tom lives in Bonn.", Claim("Tom", "home", "Bonn")),
                ("Tom is Ada's brother.", Claim("Ada", "family", "brother Tom")),
            ],
        ),
        (
            "I live in Turin and play the cello.",
            [
                ("Ada lives in Turin.", Claim("Ada", "home", "Turin")),
                ("Ada plays the cello.", Claim("Ada", "skill", "playing the cello")),
            ],
        ),
    ],
)
def test_each_claim_that_and_joins_is_told_for_itself(
    text: str, told: list[tuple[str, Claim]]
) -> None:
    said = stated(text, speaker="Ada", at_ms=AT).statements
    assert [(each.text, each.claim) for each in said] == told


@pytest.mark.parametrize(
    "text",
    ["Did I tell you that I live in Graz now?", "May I remind you that I live in Graz?"],
)
def test_what_is_told_in_the_form_of_a_question_has_no_mark_and_is_claimed(text: str) -> None:
    (said,) = stated(text, speaker="Ada", at_ms=AT).statements
    assert "?" not in said.text
    assert said.claim == Claim("Ada", "home", "Graz")


def test_what_is_asked_is_not_claimed() -> None:
    assert claims("Do I live in Graz?") == []


def test_nobody_is_told_of_where_nobody_speaks() -> None:
    assert claims("I love jazz.", speaker=None) == []


def test_what_others_are_quoted_with_is_not_the_speakers() -> None:
    assert claims('Tom said: "I love jazz."') == []


def test_favourites_are_one_at_a_time() -> None:
    (blue,), (green,) = claims("My favorite color is blue."), claims("My favorite color is green.")
    assert (blue.subject, blue.attribute) == (green.subject, green.attribute)
    assert is_single_valued(blue.attribute)
    assert (blue.value, green.value) == ("blue", "green")


def test_every_attribute_of_the_tables_is_known() -> None:
    assert {attribute for _, attribute, _ in TOLD} <= SINGLE_VALUED.keys() | MULTI_VALUED.keys()
    assert not SINGLE_VALUED.keys() & MULTI_VALUED.keys()


@pytest.mark.parametrize(
    "text",
    [
        "MAYBE I live in Turin now.",
        "I DO NOT live in Turin.",
        "I USED TO live in Turin.",
        "IF I live in Turin, I take the tram.",
        "PERHAPS I have two dogs.",
        "I WISH I had two dogs.",
    ],
)
def test_doubt_in_capitals_is_doubt(text: str) -> None:
    claims = [each.claim for each in stated(text, speaker="Ada", at_ms=AT).statements]
    assert not any(claims), claims


def test_a_clause_without_an_attribute_is_matched_with_all_rules_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(plain_attributes, "_RULES")
    assert plain_attributes.find_attribute("I saw the bus.", "Ada", []) is None
