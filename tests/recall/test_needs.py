"""A block for a need has what is known of the persons it is for, even if no text is similar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.projections.recall.question.slots.needs import NEEDS
from recollect.schemas.wire import MemoryInput
from tests.protocol.kit import in_memory
from tests.recall.kit import EncodedHome

SAID = {
    "Marta": ("I'm vegetarian.", "I live in Porto."),
    "Henrik": ("I'm allergic to peanuts.", "I play the cello.", "My birthday is on 9 March."),
    "Yusuf": ("I have a cat called Biscuit.", "I broke my wrist last month."),
    "Lena": ("I love orchids.", "I hate horror films.", "My phone number is +49 30 901820."),
    "Tomas": ("The meeting is over.",),
    "Gwen": ("I'm vegan.", "I'm no longer vegan."),
    "Olek": ("I work for Siemens.",),
    "Dora": ("The fence is painted.",),
    "Zoe": ("The train leaves at noon.",),
    "Abel": ("The train was late.",),
}
OWNER_SAID = ("I'm allergic to lactose.", "I work as a translator.")


def message(content: str, by: str, peer: str, day: int, **fields: object) -> dict[str, object]:
    return {
        "platform": "chat",
        "sender_id": f"u-{by}",
        "sender_name": by,
        "peer_id": peer,
        "occurred_at": f"2026-{1 + day // 28:02}-{1 + day % 28:02}T13:00:00Z",
        "content": content,
        **fields,
    }


def phone() -> Iterator[dict[str, object]]:
    """Yield ten chats of Iris, the owner, with a friend each."""
    own = [*OWNER_SAID]
    day = 0
    for friend, texts in SAID.items():
        for number, text in enumerate(texts):
            day += 1
            yield message(text, friend, friend, day, id=f"{friend}-{number}")
            yield message(own.pop() if own else "Good.", "Iris", friend, day)


@pytest.fixture(scope="module", params=[True, False], ids=["encoder", "words"])
def zone(request: pytest.FixtureRequest) -> Iterator[Zone]:
    with in_memory() as room:
        Home.create_or_open(room / "home", without_encoder=True)
        with Recollect((EncodedHome if request.param else Home)(room / "home")) as r:
            zone = r.zone("iris")
            zone.ingest([*phone()])
            yield zone


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        yield r.zone("z")


def lines(zone: Zone, task: str, **fields: int) -> Sequence[str]:
    return zone.context(task, **fields).block.split("\n")[2:-1]


@pytest.mark.parametrize(
    ("task", "known"),
    [
        ("Book a restaurant for Henrik", "allergic to peanuts."),
        ("Plan a menu for a dinner with Marta", "vegetarian"),
        ("Find a present for Lena", "orchids"),
        ("Send a parcel to Marta", "Porto"),
        ("Set up a call with Lena", "+49 30 901820"),
        ("Find a sitter for the pet of Yusuf", "Biscuit"),
        ("Introduce Olek to the recruiter", "Siemens"),
        ("Pick a film for the evening with Lena", "horror films"),
        ("Organise a birthday party for Henrik", "birthday is on 9 March"),
        ("Prepare the doctor's appointment of Henrik", "allergic to peanuts."),
        # Nobody is named, or the owner takes part.
        ("Find me a dessert recipe for Sunday", "lactose"),
        ("Which painkiller can I take?", "lactose"),
        ("Write my cv", "translator"),
        ("Order dinner for Dora and me", "lactose"),
    ],
)
def test_a_need_gets_what_serves_it(zone: Zone, task: str, known: str) -> None:
    assert known in "\n".join(lines(zone, task))


@pytest.mark.parametrize(
    "task",
    [
        "Book a restaurant for Dora",
        "Find a present for Tomas",
        "Send a parcel to Yusuf",
        "Introduce Dora to the recruiter",
        # A broken wrist has nothing to do with a meal, and what has ended is not current.
        "Book a restaurant for Yusuf",
        "Plan a menu for a lunch of Gwen",
        # Nobody known is meant.
        "Book a restaurant for Quentin",
        "What should I cook for my sister?",
        "How do restaurants hire cooks?",
        "Suggest a dessert recipe",
        "Give me a recipe for pancakes",
        # Words with another sense in work on software.
        "Why does my third-party package fail?",
        "Fix the job queue of our service",
        "Resume my download",
        "Add an entry to the menu of my app",
        "Call the function from my module",
        "Shorten my commit message",
        "Which route did my request take?",
        # The question is about a person or the past, and asks for no more than its answer.
        "What does Henrik cook?",
        "Who made the dinner of Henrik?",
    ],
)
def test_nothing_is_added_where_nothing_serves_it(zone: Zone, task: str) -> None:
    assert [item for item in zone.context(task).items if item.need] == []
    assert "vegan" not in zone.context(task).block


def test_a_line_says_for_which_need_it_is_and_cites_its_fact(zone: Zone) -> None:
    (item,) = zone.context("Book a restaurant for Henrik").items
    assert (item.type, item.need, item.source_event_ids) == ("fact", "food", ["Henrik-0"])
    assert item.id in {fact.id for fact in zone.facts()}
    assert "allergic to peanuts" in str(zone.why(item.id))


def test_other_memories_are_not_let_in(zone: Zone) -> None:
    assert len(lines(zone, "Book a restaurant for Henrik")) == 1


@pytest.mark.parametrize(
    ("task", "others"),
    [
        ("Which peanuts may be in the dinner that Henrik ate here?", False),
        ("What may be in the dinner that Henrik ate here?", True),
    ],
)
def test_a_fact_is_told_once_however_it_is_found(empty: Zone, task: str, others: bool) -> None:
    empty.ingest(
        [
            message("I'm allergic to peanuts.", "Henrik", "room", 1),
            *(message(f"Henrik ate dinner {n} here.", "Bob", "room", n) for n in range(2, 20)),
        ]
    )
    found = empty.context(task, max_tokens=150)
    assert found.block.count("peanuts") == 1
    assert (len(found.items) > 1) == others


@pytest.mark.parametrize("budget", range(1, 120, 7))
def test_the_limit_holds(empty: Zone, budget: int) -> None:
    empty.ingest([message(f"I'm allergic to nut {n}.", "Henrik", "room", n) for n in range(1, 9)])
    found = empty.context("Book a restaurant for Henrik", max_tokens=budget)
    assert found.tokens <= budget
    assert len(re.findall(r"\w+|[^\w\s]", found.block)) <= budget


def test_no_more_than_a_few_of_many_are_shown_the_newest_first(empty: Zone) -> None:
    told = [message(f"I like thing{n}.", "Henrik", "room", n) for n in range(1, 21)]
    empty.ingest(told)
    found = empty.context("Find a present for Henrik", max_tokens=2_000)
    assert re.findall(r"thing\d+", found.block) == [f"thing{n}" for n in range(20, 12, -1)]


def test_of_two_persons_with_one_name_neither_is_taken(empty: Zone) -> None:
    empty.ingest(
        [
            message("I'm vegetarian.", "Anna Berg", "room", 1),
            message("I'm allergic to peanuts.", "Anna Holm", "room", 2),
        ]
    )
    assert empty.context("Book a restaurant for Anna").block == ""
    assert "peanuts" in empty.context("Book a restaurant for Anna Holm").block


def test_the_only_person_who_talks_to_an_assistant_is_the_owner(empty: Zone) -> None:
    empty.ingest(
        [
            message("I'm allergic to lactose.", "Iris", "app", 1),
            message("Noted.", "assistant", "app", 2, sender_id="assistant", direction="out"),
        ]
    )
    assert "lactose" in empty.context("Find me a dessert recipe").block
    empty.ingest([message("The fence is painted.", "Bob", "app", 3)])
    assert empty.context("Find me a dessert recipe").block == ""


#: What the only person of a zone says of relatives and friends.
OF_OTHERS = (
    "My sister Petra came by.",
    "Petra is vegetarian.",
    "My brother Tom came by.",
    "Tom loves board games.",
    "My other brother is called David.",
    "David hates mushrooms.",
    "My dad Robert is here.",
    "Robert loves gardening.",
    "My wife Nora is here.",
    "Nora's birthday is on 4 May.",
    "My friend Linda is here.",
    "Linda loves trampolines.",
    "Linda's sister Emma is here.",
    "Emma is allergic to peanuts.",
    "I'm allergic to lactose.",
)


@pytest.fixture(scope="module")
def family() -> Iterator[Zone]:
    with in_memory() as room, Recollect(room / "home", encoder="none") as r:
        zone = r.zone("iris")
        zone.ingest(
            [
                message(text, "Iris", "notes", day, id=f"said-{day}")
                for day, text in enumerate(OF_OTHERS, 1)
            ]
        )
        yield zone


@pytest.mark.parametrize(
    ("task", "known"),
    [
        ("What should I cook for my sister?", {"vegetarian"}),
        ("Lunch with my older sister: where?", {"vegetarian"}),
        ("Find a present for my brother", {"board games", "mushrooms"}),
        ("Find a present for my siblings", {"board games", "mushrooms"}),
        ("A present for dad", {"gardening"}),
        ("Find a present for our father", {"gardening"}),
        ("An outing with my parents", {"gardening"}),
        ("Plan the birthday of my spouse", {"4 May"}),
        ("A weekend with my buddy", {"trampolines"}),
        ("A weekend with my brother and friend", {"board games", "mushrooms", "trampolines"}),
        ("Cook dinner for my sister and me", {"vegetarian", "lactose"}),
    ],
)
def test_a_relative_or_friend_of_the_owner_is_who_is_meant(
    family: Zone, task: str, known: set[str]
) -> None:
    found = lines(family, task)
    assert len(found) == len(known)
    assert all(any(word in line for line in found) for word in known)


@pytest.mark.parametrize(
    "task",
    [
        # Nobody is known to be the owner's aunt, husband or sister-in-law.
        "What should I cook for my aunt?",
        "Plan the birthday of my husband",
        "What should I cook for my sister-in-law?",
        # Not a relative of the owner.
        "What should I cook for her sister?",
        "What should I cook for Ben's sister?",
        "A present for her mum and dad",
        "What should I cook for my friend's sister?",
        "Find a present for the brother of my friend",
        "What do sisters eat for dinner?",
        "How do I bake with a mother dough?",
        'Translate "my brother is at the cinema" into Dutch',
        # The question is about that person.
        "What does my sister cook?",
    ],
)
def test_nobody_else_is_taken_for_a_relative(family: Zone, task: str) -> None:
    assert [item.text for item in family.context(task).items if item.need] == []


@pytest.mark.parametrize("ends", ["forget", "retract"])
def test_a_relative_is_unknown_once_nothing_states_the_relation(empty: Zone, ends: str) -> None:
    empty.ingest(
        [
            message("My brother Tom came by.", "Iris", "notes", 1, id="relation"),
            message("Tom loves board games.", "Iris", "notes", 2),
        ]
    )
    task = "Find a present for my brother"
    assert [item.need for item in empty.context(task).items if item.need] == ["gift"]
    if ends == "forget":
        empty.forget("relation")
    else:
        (relation,) = (fact.id for fact in empty.facts() if "brother" in fact.text)
        empty.retract(relation)
    assert [item for item in empty.context(task).items if item.need] == []
    assert "board games" in empty.context("Find a present for Tom").block


def test_what_is_forgotten_serves_no_need(empty: Zone) -> None:
    empty.ingest(
        [
            message("I'm allergic to peanuts.", "Henrik", "room", 1, id="first"),
            message("I'm vegetarian.", "Henrik", "room", 2, id="second"),
        ]
    )
    task = "Book a restaurant for Henrik"
    assert {item.text for item in empty.context(task).items} == {
        "Henrik is allergic to peanuts.",
        "Henrik is vegetarian.",
    }
    empty.forget("first")
    assert [item.text for item in empty.context(task).items] == ["Henrik is vegetarian."]
    empty.forget("second")
    assert empty.context(task).block == ""


def test_what_is_retracted_serves_no_need(empty: Zone) -> None:
    empty.ingest([message("I'm allergic to peanuts.", "Henrik", "room", 1)])
    (fact,) = empty.facts()
    empty.retract(fact.id)
    assert empty.context("Book a restaurant for Henrik").block == ""


def test_a_hidden_memory_serves_no_need(empty: Zone) -> None:
    task = "Book a restaurant for Henrik"
    stored = empty.store_memories([MemoryInput(content="Henrik is vegetarian.")])
    private = MemoryInput(content="Henrik is allergic to peanuts.", scope="user", user_id="ada")
    empty.acting_as(user="ada").store_memories([private])
    block = empty.acting_as(user="bob").context(task).block
    assert "vegetarian" in block
    assert "peanuts" not in block
    empty.set_memory_state([stored.receipts[0].event_id], "inactive")
    assert empty.context(task).block == ""


def test_the_reference_names_each_kind_of_need_with_its_attributes() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "recall.md"
    section = page.read_text("utf-8").partition("\n### Needs\n")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in section.splitlines() if row.startswith("| `")]
    documented = {
        kind.strip(" `"): tuple(re.findall("`([^`]+)`", names)) for _, kind, _, _, names, _ in rows
    }
    assert documented == {kind: need.attributes for kind, need in NEEDS.items()}
    for _, kind, words, ambiguous, _, _ in rows:
        need = NEEDS[kind.strip(" `")]
        assert all(need.words.fullmatch(word.strip()) for word in words.split(","))
        assert all(need.ambiguous.fullmatch(word.strip()) for word in ambiguous.split(","))
