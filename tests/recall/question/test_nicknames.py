"""Names for short: whoever may be called so is meant, unless the zone knows somebody who is."""

from __future__ import annotations

import pytest
from nicknames import NickNamer

from recollect.text.nicknames import _NO_NAMES, other_names
from tests.memory import Memory
from tests.recall.kit import START, ask, cited, embedded, say, tell


@pytest.fixture
def office(memory: Memory) -> Memory:
    tell(
        memory,
        [
            say("I keep bees.", "bees", by="Robert Miller", peer_id="a"),
            say("I keep hens.", "hens", by="Ann", at=START + 1, peer_id="b"),
        ],
    )
    return memory


def preferred(memory: Memory, question: str) -> set[str]:
    """Return the turns of whom the question is taken to name."""
    results = ask(memory, question, explain=True, scope=("events",))
    return {
        id_ for item in results if (item.arms or {}).get("entity") == 1 for id_ in cited([item])
    }


@pytest.mark.parametrize("name", ["Bob", "Rob", "Robert", "Bob Miller", "Robert Miller"])
def test_somebody_is_found_by_a_name_for_short(office: Memory, name: str) -> None:
    assert preferred(office, f"What does {name} keep?") == {"bees"}
    assert cited(ask(office, "keep", entity=name)) == ["bees"]
    assert embedded(office, f"What does {name} keep?") == "What does keep?"


@pytest.mark.parametrize("name", ["Robin", "Bobcat", "Bob Smith", "Tom", "Kate"])
def test_nobody_is_meant_by_another_name(office: Memory, name: str) -> None:
    assert preferred(office, f"What does {name} keep?") == set()
    assert ask(office, "keep", entity=name) == []


def test_the_whole_name_is_for_who_goes_by_the_short_one(memory: Memory) -> None:
    tell(memory, [say("I keep cats.", "cats", by="Kate"), say("Me too.", "too", by="Ann")])
    assert preferred(memory, "What does Katherine keep?") == {"cats"}


def test_who_is_called_so_goes_before_who_may_be(office: Memory) -> None:
    tell(office, [say("I keep cats.", "cats", by="Bob", at=START + 2)])
    assert preferred(office, "What does Bob keep?") == {"cats"}
    assert preferred(office, "What does Robert keep?") == {"bees"}


def test_of_several_nobody_is_meant(office: Memory) -> None:
    tell(office, [say("I keep cats.", "cats", by="Roberta", at=START + 2)])
    tell(office, [say("I keep eels.", "eels", by="Bobby", at=START + 3)])
    assert preferred(office, "What does Bob keep?") == set()


def test_a_word_in_a_question_without_capitals_is_no_nickname(memory: Memory) -> None:
    tell(memory, [say("I keep bees.", "bees", by="William"), say("Me too.", "too", by="Ann")])
    assert preferred(memory, "who pays the bill") == set()
    assert preferred(memory, "Who pays Bill?") == {"bees"}


def test_nobody_is_merged(office: Memory) -> None:
    ask(office, "What does Bob keep?")
    before = office.status().entities
    tell(office, [say("I keep cats.", "cats", by="Bob", at=START + 2)])
    assert office.status().entities == before + 1


def test_no_word_that_is_never_looked_up_is_a_name_for_short() -> None:
    """So that most questions need not load the table."""
    table = NickNamer()
    names = {word for word in _NO_NAMES if table.nicknames_of(word) | table.canonicals_of(word)}
    assert not names
    assert other_names("will smith"), "a question may begin with Will"


def test_a_name_stands_for_who_goes_by_it_with_a_title(memory: Memory) -> None:
    tell(memory, [say("I keep bees.", "bees", by="Grandma Ruth"), say("Me too.", "too", by="Ann")])
    assert preferred(memory, "What does Ruth keep?") == {"bees"}
    tell(memory, [say("I keep cats.", "cats", by="Coach Ruth", at=START + 2)])
    assert preferred(memory, "What does Ruth keep?") == set()


def test_a_first_name_means_who_is_perhaps_the_same_too(memory: Memory) -> None:
    partner = say("My partner Joris is a plumber.", "partner", by="Ann", peer_id="a")
    tell(memory, [partner, say("I keep eels.", "eels", by="Joris Haan", at=START + 1, peer_id="a")])
    assert preferred(memory, "What does Joris keep?") == {"eels"}
    assert cited(ask(memory, "keep", entity="Joris")) == ["partner"]
