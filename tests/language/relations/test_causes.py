"""Causes: which of what a message says led to which, and what only looks like it.

Each row says, by a word of the one and a word of the other, which statement is the cause and which
the effect; the expectation is that of a reader, not of a rule.
"""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.analysis import Analysis
from tests.language.stating import stated

AT = 1_767_607_200_000  # 2026-01-05T10:00:00Z


def read(text: str) -> Analysis:
    return stated(text, speaker="Ada", at_ms=AT)


LINKED = [
    # within a sentence
    ("I missed the concert because I broke my leg.", "leg", "concert"),
    ("I moved to Lisbon because I got a job at Acme.", "Acme", "Lisbon"),
    ("Because I broke my leg, I missed the concert.", "leg", "concert"),
    ("I broke my leg, therefore I missed the concert.", "leg", "concert"),
    ("I broke my leg; therefore, I missed the concert.", "leg", "concert"),
    ("I'm allergic to peanuts and therefore I carry an EpiPen.", "peanuts", "EpiPen"),
    ("I lost my badge, so that's why I was late on Monday.", "badge", "late"),
    ("I lost my job, which is why we moved to Porto.", "job", "Porto"),
    ("I'm lactose intolerant, so I drink oat milk.", "lactose", "oat"),
    ("I hate flying, so we always take the train to Vienna.", "flying", "train"),
    ("Since I'm vegan, I don't eat cheese.", "vegan", "cheese"),
    ("I can't eat the cake since I'm allergic to eggs.", "allergic", "cake"),
    ("Due to the fact that I broke my leg, I missed the concert.", "leg", "concert"),
    ("We missed the train due to the fact that my son lost his shoes.", "shoes", "train"),
    ("I adopted a puppy last week, which meant I cancelled my trip to Rome.", "puppy", "Rome"),
    ("Given that I don't drive, I take the bus to work.", "drive", "bus"),
    ("I work from home on Fridays because my daughter has swimming lessons.", "swimming", "home"),
    ("I take the night train because flights make me sick.", "sick", "night"),
    ("I sold the house in Leeds because we needed money for Tom's surgery.", "surgery", "Leeds"),
    ("I'm moving to Berlin in June because my wife got a position at Charité.", "wife", "Berlin"),
    ("Four months of leaks, a mouldy wall and a roof that waits for June: that's why we are "
     "leaving the flat on 30 April.",
     "leaks", "leaving"),
    ("My sister sold her car because she moved to Tokyo.", "sister moved", "sold"),
    # across sentences
    ("I lost my job. That's why I moved to Lisbon.", "lost", "Lisbon"),
    ("The river flooded our street. As a result, we moved to Lisbon.", "river", "Lisbon"),
    ("The river flooded our street. Because of that we moved to Lisbon.", "river", "Lisbon"),
    ("The river flooded our street. Therefore we moved to Lisbon.", "river", "Lisbon"),
    ("I broke my leg in March. That's how come I missed the concert.", "leg", "concert"),
    ("I broke my leg in March. So that's why I missed the concert.", "leg", "concert"),
    ("I broke my leg in March. As a result of that, I missed the concert.", "leg", "concert"),
    ("I broke my leg in March. Consequently I missed the concert.", "leg", "concert"),
    ("I broke my leg in March. For that reason I missed the concert.", "leg", "concert"),
    ("I broke my leg in March. Thanks to that I missed the concert.", "leg", "concert"),
    ("I failed the exam in June. This led to my parents cancelling our trip.", "exam", "trip"),
    ("I failed the exam in June. That resulted in my parents cancelling our trip.", "exam", "trip"),
    ("I missed the concert in March. That's because I broke my leg.", "leg", "concert"),
    ("I missed the concert in March. Because I broke my leg.", "leg", "concert"),
    ("I missed the concert in March. The reason is that I broke my leg.", "leg", "concert"),
    ("found it. two workers share one write buffer, so when both flush at once the header of the "
     "second lands on the first. that is why the tiles are corrupted", "buffer", "tiles"),
    # to what was named before
    ("We had a leak in the kitchen on Monday. The leak led to a power cut in our flat.",
     "kitchen", "power"),
    ("A storm hit our village on Monday. My flight to Oslo was cancelled because of the storm.",
     "village", "Oslo"),
    ("A storm hit our village on Monday. Due to the storm, my flight to Oslo was cancelled.",
     "village", "Oslo"),
    ("We had a fire in the office in May. The damage to my laptop was caused by the fire.",
     "office", "laptop"),
    ("We had a fire in the office in May. As a result of the fire, our team moved to Room 12.",
     "office", "Room"),
    ("We had a fire in the office in May. The fire resulted in a loss of my laptop.",
     "office", "loss"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause", "effect"), LINKED)
def test_a_cause_that_is_said_is_linked(text: str, cause: str, effect: str) -> None:
    found = read(text)
    (link,) = found.causes
    assert cause in found.statements[link.cause].text
    assert effect in found.statements[link.effect].text
    assert effect not in found.statements[link.cause].text, "cause and effect are two facts"
    assert 0 < link.strength < 1


@pytest.mark.parametrize(
    "text",
    [
        # questions, conditions, doubt, denial
        "Did you quit your job because of the commute?",
        "Did I miss the concert because I broke my leg?",
        "I broke my leg. Is that why you called me on Monday?",
        "We had dinner at the lake. Is it far? That's why I moved to Lisbon.",
        "If I broke my leg because I ran, I would stop running.",
        "Maybe I broke my leg because I ran too much.",
        "I wonder whether I failed because I slept badly.",
        "I would have gone to Rome if I hadn't broken my leg because I love Rome.",
        "I moved to Lisbon not because I hated Berlin.",
        "I didn't marry Tom because he was rich but because I loved him.",
        "Just because I'm vegan doesn't mean I only eat salad.",
        "My brother says he quit because his boss yelled, but I doubt it.",
        "I don't know why I sold my car.",
        # "since" of time
        "I have lived in Lisbon since I left Acme.",
        "I've been vegan since I was twelve.",
        "I have been running every day since I moved to Lisbon.",
        "Since 2019 I have worked at Acme.",
        "Since I moved to Lisbon, I have learned Portuguese.",
        "I ran since 6 am and I was tired.",
        # "so" of degree, of purpose, of going on
        "I was so tired that I slept on the train to Vienna.",
        "I bought a new bike so that I can ride to work.",
        "I bought a bike so I can ride to work.",
        "I have two cats, so yeah.",
        "I live in Lisbon, so what about you?",
        "I have two cats and a dog or so I think.",
        "We had dinner at the lake. So I moved to Lisbon.",
        "We had dinner at the lake. Then we moved to Lisbon.",
        # other meanings of the words
        "We drove along the road. The road led to the lake where we camped in May.",
        "We repaired the stairs in May. The stairs lead to my office in the attic.",
        "My rent is due to be paid on Friday.",
        "The report is due to Anna on Monday.",
        "Thanks to everyone for my birthday party on Saturday!",
        "He led the team to the final in May.",
        "We had dinner at the lake. As a result of luck we moved to Lisbon.",
        "I broke my leg. Thanks to Anna we have my cake for Saturday.",
        # a cause that says nothing by itself, or is another's word
        "I love my garden because it is quiet.",
        "I like Lisbon because.",
        "I love you because reasons.",
        "Tom fired Bob because he stole money from the office.",
        'She said: "I quit my job because I hated my boss."',
        "I moved because of a job.",
        "That's why I moved to Lisbon.",
        "That's why!",
        "",
        "because because because because",
    ],
)  # fmt: skip
def test_a_doubtful_cause_links_nothing(text: str) -> None:
    assert read(text).causes == ()


def test_a_part_that_is_no_fact_leaves_the_sentence_whole() -> None:
    (statement,) = read("I love my garden because it is quiet.").statements
    assert "garden" in statement.text
    assert "quiet" in statement.text


def texts(text: str) -> list[str]:
    return [each.text for each in read(text).statements]


def test_cause_and_effect_are_two_facts() -> None:
    assert texts("I lost my badge on Monday, so I take the stairs.") == [
        "Ada lost Ada's badge on Monday (2025-12-29).",
        "Ada takes the stairs.",
    ]


def test_sentences_of_which_one_led_to_the_other_are_told_apart() -> None:
    assert texts("The storm flooded the bridge. Therefore, the road was closed.") == [
        "Ada: The storm flooded the bridge.",
        "Ada: Therefore, the road was closed.",
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (
            "I bought a second fridge so we could store the milk for the shelter.",
            "Ada bought a second fridge so Ada and others could store the milk for the shelter.",
        ),
        (
            "I moved my desk to the window so that I can see the river.",
            "Ada moved Ada's desk to the window so that Ada can see the river.",
        ),
        (
            "I need to train an apprentice in May so my shop doesn't depend on me alone.",
            "Ada needs to train an apprentice in May (May 2026) "
            "so Ada's shop doesn't depend on Ada alone.",
        ),
    ],
)
def test_what_something_is_done_for_is_not_told_as_if_it_were_so(text: str, fact: str) -> None:
    assert texts(text) == [fact]
    assert read(text).causes == ()


def test_a_purpose_is_nothing_without_what_is_done_for_it() -> None:
    told = texts("Just give me the link now, so I don't lose my place in the queue at Acme.")
    assert "Ada doesn't lose Ada's place in the queue at Acme." not in told


def test_what_cannot_be_for_a_reason_is_no_purpose() -> None:
    analysis = read("My gym's boiler burst on Monday, so I can't train this week.")
    assert [(each.cause, each.effect) for each in analysis.causes] == [(0, 1)]


def test_he_or_she_who_is_named_in_the_other_part_is_named() -> None:
    found = read("My sister sold her car because she moved to Oslo.").statements
    assert [item.sentence for item in found] == [
        "My sister sold her car",
        "My sister moved to Oslo.",
    ]
    assert all("Ada's sister" in item.text for item in found)


def test_what_leads_to_a_cause_is_no_part_of_it() -> None:
    found = read("I missed the concert. That's because I broke my leg.").statements
    assert "because" not in found[1].text.lower()


def test_two_causes_in_one_sentence_are_nobodys() -> None:
    text = "I sold my car because I moved to Oslo because I got a job at Acme."
    assert read(text).causes == ()


def test_a_long_text_is_read_in_a_time_that_grows_with_it() -> None:
    assert len(read("I ran because I was late, so I fell. " * 300).statements) <= 256
    read("because of the " * 5000)
    read("I am " + ", so " * 5000 + "late because I ran")
