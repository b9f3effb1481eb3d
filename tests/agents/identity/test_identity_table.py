"""Who is who in conversations: a table of our own, from the first message to the entities.

Each row of `tests/data/names/conversations.tsv` is a kind of conversation, what two become by it,
and the names that stand in it. `same`: one entity; `propose`: two, and a pair that waits for
review; `different`: two, and nothing waits; `apart`: two, whether or not it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect.operations.memories.compare_entities import compare_descriptions
from recollect.schemas.events import Content, Draft
from recollect.schemas.wire import EntityDescription
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import MINUTE, START, Zone, says

_TABLE = Path(__file__).parents[2] / "data" / "names" / "conversations.tsv"
_ROWS = [
    tuple(line.split("\t"))
    for line in _TABLE.read_text("utf-8").splitlines()
    if not line.startswith("#")
]


class Two(NamedTuple):
    """Two entities of a zone, by id."""

    home: Zone
    one: str
    other: str


def test_the_table_is_large_enough() -> None:
    assert len(_ROWS) >= 300
    assert len(set(_ROWS)) == len(_ROWS), "a row stands twice"


@pytest.mark.parametrize("row", _ROWS, ids=["-".join(row[:4]) for row in _ROWS])
def test_a_conversation_ends_as_the_table_says(row: tuple[str, ...]) -> None:
    kind, expected, *given = row
    if expected in ("nobody", "named", "clean"):
        _MADE[expected](*given)
        return
    home, one, other = _TWO[kind](*given)
    one, other = home.canonical_id(one), home.canonical_id(other)
    waiting = {
        frozenset((home.canonical_id(a), home.canonical_id(b)))
        for a, b in home.ask(
            "identity",
            "SELECT entity_a_id, entity_b_id FROM merge_candidates WHERE status = 'pending'",
        )
    }
    assert (one == other) == (expected == "same"), home.people()
    if expected in ("propose", "different"):
        assert (frozenset((one, other)) in waiting) == (expected == "propose"), (
            home.pending_merges()
        )


@pytest.mark.parametrize("row", [row for row in _ROWS if row[0] in ("accounts", "named")])
def test_entities_compare_judges_as_the_writer_does(row: tuple[str, ...]) -> None:
    kind, expected, *given = row
    type, one, other = given if kind == "named" else ("person", *given)
    emails = ("a@example.org", "b@example.org") if kind == "accounts" else (None, None)
    found = compare_descriptions(
        EntityDescription(one, type, emails[0]), EntityDescription(other, type, emails[1])
    )
    allowed = {"apart": {"propose", "different"}}.get(expected, {expected})
    assert found.decision in allowed, found
    assert found.reasons


def zone(*drafts: Draft) -> Zone:
    return Zone(RuleWriter(), MergeHandler()).given(*drafts)


def said(who: str, words: str, nth: int, account: str, **fields: str | None) -> Draft:
    """Return the nth message: in the group `g` of a chat, unless it is said elsewhere."""
    place = {"peer_id": "g", "peer_kind": "group"} | fields
    return says(who, words, account=account, id=f"m{nth}", at=START + nth * MINUTE, **place)  # type: ignore[arg-type]


def named_in(home: Zone, source: str, words: str) -> str:
    """Return who is meant by a word of a message."""
    found = [
        entity
        for text, entity in home.mentioned_in(source)
        if text.rstrip(".") == words.rstrip(".")
    ]
    assert found, (words, home.mentioned_in(source), home.facts())
    return found[0]


def sender_of(home: Zone, source: str) -> str:
    """Return who said a message."""
    ((entity,),) = home.ask(
        "identity",
        "SELECT DISTINCT entity_id FROM mentions WHERE char_offset_start = -1 AND event_id = "
        f"'{home.ask('events', 'SELECT id FROM events WHERE source_id = ?', source)[0][0]}'",
    )
    return str(entity)


def one_account(first: str, then: str, account: str = "u1", platform: str = "chat") -> Two:
    home = zone(
        said(first, "I live in Rome.", 1, account, platform=platform),
        said(then, "I like figs.", 2, account, platform=platform),
    )
    return Two(home, sender_of(home, "m1"), sender_of(home, "m2"))


def two_accounts(first: str, then: str, platform: str = "chat") -> Two:
    home = zone(
        said(first, "I live in Rome.", 1, "u1"),
        said(then, "I like figs.", 2, "u2", platform=platform),
    )
    return Two(home, home.owner_of("u1"), home.owner_of("u2", platform))


def said_here(account: str, name: str, words: str = "", peer: str = "g") -> Two:
    words = words or f"{name} moved to Leeds last year."
    home = zone(
        said(account, "I live in Rome.", 1, "u1"),
        said("Zoe", words, 2, "zoe", peer_id=peer),
    )
    return Two(home, home.owner_of("u1"), named_in(home, "m2", name))


def one_of_two(first: str, second: str, name: str, elsewhere: str = "other") -> Two:
    home = zone(
        said(first, "I live in Rome.", 1, "u1"),
        said(second, "I like figs.", 2, "u2", peer_id=elsewhere),
        said("Zoe", f"{name} moved to Leeds last year.", 3, "zoe"),
    )
    return Two(home, home.owner_of("u1"), named_in(home, "m3", name))


def introduced(account: str, name: str, words: str) -> Two:
    home = zone(
        says("" if account.startswith("u-") else account, words, account="u1", id="m1"),
        said("Zoe", f"{name} moved to Leeds last year.", 2, "zoe", peer_id="other"),
    )
    return Two(home, home.owner_of("u1"), named_in(home, "m2", name))


def quoted(name: str, words: str) -> Two:
    home = zone(said(name, "I live in Rome.", 1, "u1"), said("Zoe", words, 2, "zoe"))
    return Two(home, home.owner_of("u1"), named_in(home, "m2", name))


def two_places(first: str, second: str, one: str, other: str) -> Two:
    drafts = []
    for nth, (where, name) in enumerate(((first, one), (second, other)), start=1):
        platform, peer, kind = where.split(":")
        words = (f"I work in {name} now.", f"I left my bag in {name} today.")[nth - 1]
        drafts.append(
            said("Zoe", words, nth, "zoe", platform=platform, peer_id=peer, peer_kind=kind)
        )
    home = zone(*drafts)
    return Two(home, named_in(home, "m1", one), named_in(home, "m2", other))


def only_named(first_type: str, second_type: str, one: str, other: str) -> Two:
    home = zone()
    found = []
    for nth, (kind, name) in enumerate(((first_type, one), (second_type, other)), start=1):
        draft = said("Zoe", f"{name}, I think.", nth, "zoe")
        event = home.next_event(draft)
        assert isinstance(event.payload, Content)
        resolver = home.resolver(draft)
        resolver.resolve_sender(event, event.payload)
        found.append(resolver.resolve(name, kind).id)
        home.keep(resolver)
    return Two(home, *found)


def two_give(one: str, other: str, words: str) -> Two:
    home = zone(said(one, words, 1, "u1"), said(other, words, 2, "u2"))
    return Two(home, home.owner_of("u1"), home.owner_of("u2"))


_TWO: dict[str, Callable[..., Two]] = {
    "renamed": one_account,
    "mailbox": lambda a, b: one_account(a, b, "office@example.org", "email"),
    "accounts": two_accounts,
    "platforms": lambda a, b: two_accounts(a, b, "slack"),
    "said here": said_here,
    "said elsewhere": lambda a, b: said_here(a, b, peer="other"),
    "in a sentence": said_here,
    "one here, one elsewhere": one_of_two,
    "two here": lambda a, b, name: one_of_two(a, b, name, "g"),
    "introduces": introduced,
    "in quotation marks": quoted,
    "places": two_places,
    "named": lambda kind, a, b: only_named(kind, kind, a, b),
    "of two types": lambda a, b, name: only_named(a, b, name, name),
    "give one address": two_give,
}


def nobody(name: str, words: str) -> None:
    home = zone(said("Zoe", words, 1, "zoe"))
    found = home.ask("identity", "SELECT name FROM entities WHERE name LIKE ?", f"%{name}%")
    assert found == []


def named(name: str, words: str) -> None:
    assert name in names_after(words)


def names_after(words: str) -> list[str]:
    home = zone(said("Zoe", words.replace("¦", "|"), 1, "zoe"))
    found = [name for (name,) in home.ask("identity", "SELECT name FROM entities")]
    assert not [each for each in found if set(each) & set("*_`~|[]<>#") or ";" in each], found
    return found


_MADE: dict[str, Callable[..., object]] = {
    "nobody": nobody,
    "named": named,
    "clean": names_after,
}
