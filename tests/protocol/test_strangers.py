"""Two strangers are never one (F4), one account is never two (F5), assistants tell no facts."""

from __future__ import annotations

import pytest

from recollect.schemas.events import Draft, Message, Remember
from tests.protocol.kit import START, ZONE, Home, agree, forget

MINUTE = 60_000


def said(
    text: str,
    id: str,
    *,
    platform: str = "chat",
    sender: str = "u1",
    name: str | None = None,
    direction: str | None = "in",
    peer: str | None = None,
) -> Draft:
    return Draft(
        platform=platform,
        occurred_at=START,
        ingested_at=START,
        payload=Message(
            source_id=id,
            sender_id=sender,
            sender_name=name,
            content=text,
            direction=direction,  # type: ignore[arg-type]
            peer_id=peer,
        ),
    )


def owners(home: Home) -> dict[tuple[str, str], str]:
    """Return (platform, handle) -> the name and id of who stands for it."""
    return {
        (str(platform), str(handle)): standing(home, str(entity))
        for platform, handle, entity in home.rows(
            "identity", "SELECT platform, handle, entity_id FROM handles"
        )
    }


def standing(home: Home, entity: str) -> str:
    """Follow merges by the rows alone."""
    into = dict(home.rows("identity", "SELECT id, merged_into FROM entities"))
    while into[entity] is not None:
        entity = str(into[entity])
    return entity


def named(home: Home, name: str) -> set[str]:
    """Return who stands for the entities of a normalised name."""
    found = home.rows("identity", "SELECT id, normalized FROM entities")
    return {standing(home, str(entity)) for entity, normalized in found if normalized == name}


def candidates(home: Home) -> list[tuple[str, str]]:
    return [
        (standing(home, str(a)), standing(home, str(b)))
        for a, b in home.rows("identity", "SELECT entity_a_id, entity_b_id FROM merge_candidates")
    ]


def test_two_strangers_called_alex_on_two_platforms_are_two(home: Home) -> None:
    home.tell(
        said("I live in Oslo.", "1", platform="slack", sender="U1", name="Alex"),
        said("I live in Lima.", "2", platform="discord", sender="alex#7", name="Alex"),
    )
    one, other = owners(home).values()
    assert one != other
    assert candidates(home) == [(one, other)]
    agree(home)


def test_three_of_one_name_wait_for_two_decisions_not_for_three(home: Home) -> None:
    home.tell(*(said("Hello all.", str(n), sender=f"u{n}", name="Alex") for n in range(3)))
    assert len(set(owners(home).values())) == 3
    assert len(candidates(home)) == 2


def test_the_nick_tom_is_not_my_uncle_tom(home: Home) -> None:
    home.tell(
        said("The build is green again.", "1", platform="irc", sender="tom"),
        said("My uncle Tom has a farm in Kenya.", "2", platform="irc", sender="ada"),
    )
    assert owners(home)["irc", "tom"] not in named(home, "tom") - {owners(home)["irc", "tom"]}
    assert len(named(home, "tom")) == 2


def test_my_uncle_tom_is_not_the_tom_who_writes_here(home: Home) -> None:
    home.tell(
        said("The build is green again.", "1", sender="u7", name="Tom"),
        said("My uncle Tom has a farm in Kenya.", "2", sender="u1", name="Ada"),
    )
    writes = owners(home)["chat", "u7"]
    (mentioned,) = home.rows(
        "identity",
        "SELECT entity_id FROM mentions "
        "WHERE mention_text = 'Tom' AND char_offset_start > 0 AND entity_id <> ''",
    )[:1]
    assert standing(home, str(mentioned[0])) != writes
    # Whoever speaks of Tom without more means the one who writes.
    home.tell(said("Tom has a new car.", "3", sender="u9", name="Bob"))
    last = home.rows(
        "identity",
        "SELECT DISTINCT entity_id FROM mentions WHERE mention_text = 'Tom' AND entity_id <> ''",
    )
    assert writes in {standing(home, str(entity)) for (entity,) in last}


def test_project_zephyr_is_not_my_friend_zephyr(home: Home) -> None:
    home.tell(
        said("We shipped Zephyr on Friday.", "1", name="Ada"),
        said("My friend Zephyr lives in Bonn.", "2", name="Ada"),
    )
    assert len(named(home, "zephyr")) == 2


def test_a_sender_called_paris_is_not_the_city(home: Home) -> None:
    home.tell(
        said("I moved to Paris in May.", "1", sender="u1", name="Ada"),
        said("I like chess.", "2", sender="u2", name="Paris"),
        said("Paris is lovely in spring.", "3", sender="u1", name="Ada"),
    )
    person = owners(home)["chat", "u2"]
    places = home.rows("identity", "SELECT id FROM entities WHERE type = 'place'")
    assert person not in {standing(home, str(entity)) for (entity,) in places}


def test_nothing_merges_by_itself_but_an_account_and_its_own_names(home: Home) -> None:
    home.tell(
        said("Call me Mel.", "1", sender="u1", name="Melanie Frost"),
        said("My email is mel@example.com.", "2", sender="u1", name="Melanie Frost"),
        said("I met Mel and Alex.", "3", sender="u2", name="Alex"),
        said("Alex is late.", "4", platform="slack", sender="alex", name="Alex"),
    )
    reasons = home.rows("identity", "SELECT reason FROM merges ORDER BY reason")
    allowed = (
        "the name that the handle gave",
        "another name that the handle gave",
        "called nickname",
        "email said in conversation",
    )
    assert all(reason in allowed for (reason,) in reasons), reasons
    assert owners(home)["chat", "u2"] != owners(home)["slack", "alex"]


@pytest.mark.parametrize("later", ["A. Moreau", "Ada (work)", "Moreau, Ada"])
def test_a_known_address_under_another_display_name_is_the_same_person(
    home: Home, later: str
) -> None:
    home.tell(
        said("I live in Lyon.", "1", platform="email", sender="ada@example.org", name="Ada Moreau"),
        said("I work at Larch.", "2", platform="email", sender="ada@example.org", name=later),
    )
    ada = owners(home)["email", "ada@example.org"]
    normalized = [n for (n,) in home.rows("identity", "SELECT normalized FROM entities")]
    other = {"A. Moreau": "a moreau", "Ada (work)": "ada (work"}.get(later, "moreau, ada")
    assert other in normalized, normalized
    assert named(home, other) == {ada}
    speakers = home.rows(
        "identity", "SELECT DISTINCT entity_id FROM mentions WHERE char_offset_start = -1"
    )
    persons = {standing(home, str(entity)) for (entity,) in speakers}
    assert ada in persons
    agree(home)


def test_a_name_that_another_account_has_already_stays_with_that_account(home: Home) -> None:
    home.tell(
        said("I live in Lyon.", "1", sender="u1", name="Ada"),
        said("I live in Oslo.", "2", sender="u2", name="Bob"),
        said("I am still here.", "3", sender="u2", name="Ada"),
    )
    assert owners(home)["chat", "u1"] != owners(home)["chat", "u2"]
    assert len(candidates(home)) == 1


@pytest.mark.parametrize(
    ("sender", "direction"),
    [("agent-7", "out"), ("assistant", None), ("Assistant ", "in"), ("bot", None)],
)
def test_an_assistants_message_without_a_turn_yields_no_facts(
    home: Home, sender: str, direction: str | None
) -> None:
    home.tell(
        said("Ada lives in Turin and works at Larch.", "1", sender=sender, direction=direction),
        said("I live in Lima.", "2", sender="u1", name="Ada"),
    )
    assert home.facts() == [(2, "Ada lives in Lima.")]
    assert home.rows("events", "SELECT source_id FROM events ORDER BY number") == [("1",), ("2",)]


def test_what_an_assistant_is_asked_to_remember_is_a_fact(home: Home) -> None:
    draft = Draft(
        platform="recollect",
        occurred_at=START,
        payload=Remember(source_id="r", sender_id="assistant", content="The key is in the safe."),
    )
    home.publish(draft, zone=ZONE)
    home.drive()
    assert home.facts() == [(1, "The key is in the safe.")]


def who_is_dan(home: Home, source: str) -> set[str]:
    """Return the names of those for whom "Dan" stands in a message."""
    names = dict(home.rows("identity", "SELECT id, name FROM entities"))
    (event,) = [
        id_ for id_, known in home.rows("events", "SELECT id, source_id FROM events")
        if known == source
    ]  # fmt: skip
    found = home.rows(
        "identity", "SELECT event_id, mention_text, entity_id FROM mentions WHERE entity_id <> ''"
    )
    return {
        str(names[standing(home, str(entity))])
        for at, words, entity in found
        if (at, words) == (event, "Dan")
    }


def test_who_takes_part_is_meant_and_when_he_is_forgotten_another_is(home: Home) -> None:
    """What he wrote there is gone, so nobody of that name takes part."""
    home.tell(
        said("I live in Oslo.", "1", sender="d1", name="Dan", peer="family"),
        said("I live in Lima.", "2", sender="d2", name="Dan Whitlock", peer="work"),
        said("The bus was late.", "3", sender="d2", name="Dan Whitlock", peer="work"),
        said("Dan moved to Leeds.", "4", sender="m", name="Mel", peer="work"),
        said("Dan moved to Turin.", "5", sender="m", name="Mel", peer="family"),
    )
    assert who_is_dan(home, "4") == {"Dan Whitlock"}
    assert who_is_dan(home, "5") == {"Dan"}
    agree(home)
    home.tell(forget(3))
    assert who_is_dan(home, "4") == {"Dan Whitlock"}, "he still takes part, by what he wrote before"
    agree(home)
    home.tell(forget(2, at=START + MINUTE))
    assert who_is_dan(home, "4") == {"Dan"}
    agree(home)
