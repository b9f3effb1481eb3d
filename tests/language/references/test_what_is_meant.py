"""What "it", "that" or a bare thing means is told with it, or no fact is made of it.

The cases were written before the rules, and none is taken from a set that is measured.
"""

from __future__ import annotations

import re

import pytest

from recollect.streams.language.references.person_antecedents import PrecedingMessage
from tests.language.stating import stated

AT = 1_778_248_560_000  # Friday 8 May 2026


def facts(text: str, *before: tuple[str, str]) -> list[str]:
    said = [PrecedingMessage(number, who, words) for number, (who, words) in enumerate(before, 1)]
    analysis = stated(text, speaker="Ada", at_ms=AT, before=said, salience=60)
    return [statement.text for statement in analysis.statements]


@pytest.mark.parametrize(
    ("text", "said", "meant"),
    [
        # The sentence before names it.
        ("I bought a loom in March. My aunt Nora taught me to use it.", "Nora", "loom"),
        ("We adopted a kitten on Friday. I named it Pixel.", "Pixel", "kitten"),
        ("I play the oboe in a town orchestra. I sold my car for that in March.", "car", "oboe"),
        ("My parents own a bakery in Lyon. In August they rent it to Pierre.", "Pierre", "bakery"),
        ("I sold the piano to Mrs. Holm. She picks it up on Monday.", "picks", "piano"),
        ("My new job is at the harbour. I met my wife there in May.", "wife", "harbour"),
        ("We painted the nursery. I wanted it to be yellow for my twins.", "yellow", "nursery"),
        ("I grow chillies on my balcony. My brother makes sauce of them.", "sauce", "chillies"),
        ("Our choir sings Fauré in June. I organise it with my aunt Nora.", "Nora", "Fauré"),
        ("I failed the driving exam. I repeat it on 3 June.", "2026-06-03", "driving exam"),
        ("My landlord wants to sell the flat. My wife lost her sleep over that.", "sleep", "flat"),
        ("I keep bees in Leeds. My uncle feeds them in winter.", "feeds", "bees"),
        ("My sister lent me her tent. I return it on Sunday.", "return", "tent"),
        ("The plumber came on Tuesday. He broke my bedroom window.", "window", "plumber"),
        ("I wrote a novel about my village. I sent the book to Faber.", "Faber", "novel"),
        ("My bike was stolen in Delft. The police found it on Thursday.", "police", "bike"),
        ("I signed up for a marathon in Turin. The race is on 11 October.", "11 October", "Turin"),
        ("I have two rabbits. Both are called after my uncles.", "uncles", "rabbits"),
        (
            "My uncle runs two shops in Turin. I work in the second one on Fridays.",
            "second",
            "Turin",
        ),
        (
            "I was offered two rooms in Porto. I rent the cheaper one from Bento.",
            "cheaper",
            "Porto",
        ),
        (
            "The surgery of Rex is on 3 May. Everything else stays: no food after 20:00 on Friday.",
            "20:00",
            "Rex",
        ),
        # The rest of the sentence names it.
        ("I inherited a vineyard, and my cousin Paul runs it.", "Paul", "vineyard"),
        ("I love the freedom that my van gives me.", "van", "freedom"),
        ("My aunt gave me her cello, and I play it in Bonn.", "Bonn", "cello"),
        ("My son broke a tooth, and my aunt keeps it in a jar.", "jar", "tooth"),
    ],
)
def test_the_words_before_it_say_what_is_meant(text: str, said: str, meant: str) -> None:
    told = [fact for fact in facts(text) if said in fact]
    assert told, facts(text)
    assert all(meant in fact for fact in told)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        # Nothing was said before.
        ([], "I put it in my studio in Ghent."),
        ([], "I sold my car for that in March."),
        ([], "I love the freedom and the calm it gives me."),
        ([], "My brother makes a sauce of them."),
        ([], "My cousin runs this in summer."),
        ([], "I took the cheaper one."),
        ([], "Both are called after my uncles."),
        ([], "I sent the book to my aunt."),
        ([], "My uncle gave me the idea."),
        ([], "We moved there in March."),
        ([], "I like the second one."),
        ([], "My aunt will take two of them."),
        ([], "The rest is with my brother."),
        ([], "My wife prefers the other."),
        ([], "I told my mother about the plan."),
        ([], "I repeat it on 3 June."),
        ([], "My brother bought that loom."),
        ([], "My mother will bring everything else."),
        ([], "This is why my sister hates it."),
        # What stands before it names nothing, or leaves as much open.
        ([], "Thanks, Bob! It fills half of my studio in Ghent."),
        ([], "Great! I repeat it on 3 June."),
        ([], "That is so kind of you! My cousin runs it in summer."),
        ([], "It was so much fun. I repeat it on 3 June."),
        ([], "You are right. My wife prefers the other."),
        ([], "They were late. My brother makes a sauce of them."),
        # What somebody else said is not what the speaker says.
        ([("Bob", "I saw a loom and a kayak.")], "It fills half of my studio in Ghent."),
        ([("Bob", "My kayak and my van are old.")], "I repeat it on 3 June."),
        ([("Bob", "Cool!")], "My brother makes a sauce of them."),
        # A question of the speaker's own names nothing that is so.
        ([], "Is there a loom? It fills half of my studio in Ghent."),
        ([], "Did you see my kayak? My cousin runs it in summer."),
        # Another paragraph is about something else.
        ([], "I bought a loom in March.\n\nIt fills half of my studio in Ghent."),
        ([("Bob", "Anna and Maria called.")], "She gave me her tent on Monday."),
        ([], "Anna met Maria. She gave me her tent on Monday."),
    ],
)
def test_a_doubtful_reference_is_not_resolved(before: list[tuple[str, str]], text: str) -> None:
    said = {word for _, words in before for word in re.findall(r"\w{4,}", words)}
    foreign = said - set(re.findall(r"\w+", text))
    for fact in facts(text, *before):
        assert foreign.isdisjoint(re.findall(r"\w+", fact)), fact


@pytest.mark.parametrize(
    ("text", "said", "kept"),
    [
        ("If I sell the van, I buy a boat. It would lie in Ghent.", "Ghent", "If"),
        ("I never owned a loom. I saw it as my grandmother's.", "grandmother", "never"),
        ("My aunt wishes she had a shop. She would run it with Paul.", "Paul", "wishes"),
        ("I used to own a kayak. I sold it to my cousin.", "sold", "used to"),
        ("My boss thinks the plan is bad. He says it costs 300 euros.", "300", "thinks"),
        ("I might buy the flat in Bonn. It has my favourite balcony.", "balcony", "might"),
        ("My cousin says the lake is safe. I swim in it on Sundays.", "swim", "says"),
    ],
)
def test_a_condition_a_denial_and_a_wish_stay_with_what_they_are_of(
    text: str, said: str, kept: str
) -> None:
    assert all(kept in fact for fact in facts(text) if said in fact), facts(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "What I pay if I lose my job:\n* **Rent:** 700 euros in Bonn\n* **Food:** 90 euros",
            [
                "What Ada pays if Ada loses Ada's job: Rent: 700 euros in Bonn.",
                "What Ada pays if Ada loses Ada's job: Food: 90 euros.",
            ],
        ),
        (
            "My loans:\n1. **Kind**: Loan for my boat in Kiel.\n   **Creditor**: Sparda Bank.",
            [
                "Ada's loans: Kind: Loan for Ada's boat in Kiel.",
            ],
        ),
    ],
)
def test_an_item_of_a_list_is_told_with_what_it_is_an_item_of(text: str, told: list[str]) -> None:
    found = facts(text)
    for each in told:
        assert each in found, found


@pytest.mark.parametrize(
    "text",
    [
        # The list is over, a sentence needs no heading.
        "My debts:\n- Boat: 50 euros\n\nThis is all.\n- My rent: 700 euros in Bonn.",
        "My debts:\n\nI pay a rent of 700 euros in Bonn.",
    ],
)
def test_what_is_no_item_of_a_list_has_no_heading(text: str) -> None:
    (fact,) = [each for each in facts(text) if "700" in each]
    assert not any(word in fact for word in ("debts", "do it", "all"))


def test_what_only_leads_to_a_list_is_no_fact() -> None:
    assert facts("My three debts at Sparda Bank in Bonn are:\n\n- yes") == []
