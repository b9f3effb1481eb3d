"""What the first message of a person gave is given by the next one, if the first is forgotten.

The id and the time of an automatic merge are those of the message that gave its reason. A dry run
decides again what reads something else of it, and says what the erasure leaves. The oracle erases
in a copy of the home, and decides everything again there.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from recollect.projections.content import content_hash
from recollect.schemas.events import (
    Consolidate,
    Deletion,
    Draft,
    Edit,
    Message,
    ProposeMerge,
    UndoMerge,
)
from recollect.streams.agents import state
from recollect.streams.lifecycle.rebuilding import rebuild
from tests.protocol.kit import (
    DAY,
    MINUTE,
    START,
    ZONE,
    Home,
    agree,
    command,
    copy_of,
    forget,
    live,
    say,
)
from tests.slow_parameters import slow_except

KEY_BYTES = 8
TEXTS = (
    "I moved to {city}.",
    "I live in {city} now.",
    "My email is {who}@example.org.",
    "Call me {nick}.",
    "I met {name} and {nick} in {city}.",
    "{name} lives in {city}.",
    "I keep {n} bees.",
    "I like green tea.",
    "Hello all.",
)
CITIES = ("Oslo", "Lima", "Turin")
NAMES = ("Ada Moreau", "Bob Stone", "Cem Akar")
NICKS = ("Addie", "Bobby", "Tom")


def test_the_first_message_of_a_person_costs_no_more_than_the_next(
    home: Home, decided: list[int]
) -> None:
    home.publish(
        *(
            say(
                f"I keep {n} bees.",
                f"m{n}",
                thread=f"t{n}",
                at=START + 20 * n * DAY,
                ingested_at=START + n,
            )
            for n in range(60)
        )
    )
    home.drive()
    (before,) = home.rows("identity", "SELECT id FROM merges")
    assert _previewed(home, [1])
    assert decided == [2]
    home.tell(forget(1))
    # The account is of a person from the second message on.
    (after,) = home.rows("identity", "SELECT id FROM merges")
    assert before != after
    agree(home)


def test_a_merge_with_another_id_is_undone_where_it_was_kept(home: Home) -> None:
    """A decision that was kept is decided again if the merge by its new id is undone, or not."""
    texts = ("Hello all.", "I live in Oslo.", "I moved to Lima.", "I keep bees.")
    for n, text in enumerate(texts):
        home.tell(say(text, f"m{n}", at=START + n * DAY, ingested_at=START + n))
    home.tell(forget(1))
    ((merge,),) = home.rows("identity", "SELECT id FROM merges")
    home.tell(command(UndoMerge(source_id="u", merge_id=merge), START + 5 * DAY))
    home.tell(say("I moved to Turin.", "m6", at=START + 6 * DAY, ingested_at=START + 6))
    agree(home)
    for number in (6, 2):
        home.tell(forget(number, at=START + number))
        agree(home)


@pytest.mark.parametrize("by_command", [False, True])
def test_one_of_two_merges_of_an_account_is_taken_for_no_other(
    home: Home, by_command: bool
) -> None:
    """The account is merged, parted, and merged again, by itself or by a command."""
    home.tell(say("Hello all.", "m1"), say("I live in Oslo.", "m2", ingested_at=START + 1))
    ((merge, winner, loser),) = home.rows("identity", "SELECT id, winner_id, loser_id FROM merges")
    home.tell(command(UndoMerge(source_id="u", merge_id=merge), START + MINUTE))
    if by_command:
        again = ProposeMerge(
            source_id="p", entity_a=winner, entity_b=loser, confidence=0.95, reason="seen"
        )
        # It was given before the first merge, by its own time.
        home.tell(command(again, START - DAY))
    for n in range(3, 6):
        home.tell(
            say(f"I moved to {CITIES[n % 3]}.", f"m{n}", at=START + n * DAY, ingested_at=START + n)
        )
    home.tell(forget(1))
    agree(home)
    home.tell(forget(2))
    agree(home)


@pytest.mark.parametrize("claimed", ["", "My email is ada@example.org."])
def test_an_address_that_was_known_before_gets_another_owner_or_none(
    home: Home, claimed: str
) -> None:
    """The address outlives the message that gave its owner; Bob claims it later, or nobody does."""
    home.tell(say("Write to ada@example.org about the bees.", "m1", by="Cem"))
    home.tell(say("Hello all.", "m2"), say("My email is ada@example.org.", "m3"))
    home.tell(say(claimed or "Hello all.", "m4", by="Bob", ingested_at=START + 1))
    for n in range(5, 8):
        text = f"Write to ada@example.org about {n} bees."
        at = START + 40 * n * DAY
        home.tell(say(text, f"m{n}", by="Cem", thread=f"t{n}", at=at, ingested_at=START + n))
    addressed = (
        "SELECT count(*) FROM mentions JOIN entities ON entities.id = entity_id "
        "WHERE mention_text = 'ada@example.org' AND type = 'person'"
    )
    assert home.rows("identity", addressed) != [(0,)]
    home.tell(forget(3))
    agree(home)


def _next(draw: random.Random, home: Home, n: int) -> list[Draft]:
    """Return what happens next: mostly talk; now and then an edit, a merge, or its undo."""
    at = START + n * DAY // 4
    chance = draw.random()
    merges = [merge for (merge,) in home.rows("identity", "SELECT id FROM merges ORDER BY id")]
    people = [person for (person,) in home.rows("identity", "SELECT id FROM entities ORDER BY id")]
    clusters = home.rows("memory", "SELECT DISTINCT cluster_id FROM cluster_facts ORDER BY 1")
    if chance < 0.06 and len(people) > 1:
        one, other = draw.sample(people, 2)
        proposal = ProposeMerge(
            source_id=f"p{n}", entity_a=one, entity_b=other, confidence=0.95, reason="seen"
        )
        return [command(proposal, at - draw.choice((0, 10 * DAY)))]
    if chance < 0.16 and merges:
        return [command(UndoMerge(source_id=f"u{n}", merge_id=draw.choice(merges)), at)]
    if chance < 0.2 and clusters:
        return [command(Consolidate(source_id=f"c{n}", cluster_id=draw.choice(clusters)[0]), at)]
    who = draw.randrange(3)
    text = draw.choice(TEXTS).format(
        city=draw.choice(CITIES),
        who=f"u{who}",
        nick=draw.choice(NICKS),
        name=draw.choice(NAMES),
        n=draw.randrange(3),
    )
    fields: dict[str, Any] = {
        "source_id": f"m{n}",
        "sender_id": f"u{who}",
        "sender_name": NAMES[who] if draw.random() < 0.8 else draw.choice((None, NICKS[who])),
        "content": text,
        "thread_id": f"t{draw.randrange(4)}",
    }
    payload: Message | Edit | Deletion = Message(**fields)
    if chance > 0.93:
        payload = Edit(**fields, target=f"m{draw.randrange(n)}")
    elif chance > 0.9:
        payload = Deletion(**fields | {"content": ""}, target=f"m{draw.randrange(n)}")
    return [Draft(platform="chat", occurred_at=at, ingested_at=START + n, payload=payload)]


@pytest.mark.parametrize("seed", slow_except([], range(8)))
def test_decisions_of_an_earlier_build_are_followed_by_the_keys_they_recorded(
    home: Home, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Earlier builds recorded the merges of a pair by their ids, also when they looked them up."""
    draw = random.Random(seed)
    with monkeypatch.context() as earlier:
        earlier.setattr(state, "_key_of_merged_pair", lambda merge: state.key_of("merge", merge))
        home.tell(say("Hello all.", "m0", by="u0"))
        for n in range(1, 30):
            home.tell(*_next(draw, home, n))
    for n in range(30, 60):
        home.tell(*_next(draw, home, n))
        if n % 10 == 0:
            home.tell(forget(draw.randrange(1, n), draw.randrange(1, 10), at=START + n))
            agree(home)


def test_an_undo_of_an_earlier_build_counts(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(state, "_key_of_merged_pair", lambda merge: state.key_of("merge", merge))
        home.tell(say("Hello all.", "m1"), say("I live in Oslo.", "m2", ingested_at=START + 1))
        ((merge,),) = home.rows("identity", "SELECT id FROM merges")
        home.tell(command(UndoMerge(source_id="u", merge_id=merge), START + MINUTE))
    for n in range(4, 7):
        text = f"I moved to {CITIES[n % 3]}."
        # The account gives no name, so it stays parted from the person.
        home.tell(say(text, f"m{n}", by="ada", at=START + n * DAY, ingested_at=START + n))
    home.tell(forget(4))
    agree(home)


@pytest.mark.parametrize("seed", slow_except([0], range(16)))
def test_a_dry_run_says_what_is_left_and_what_is_decided_again(home: Home, seed: int) -> None:
    draw = random.Random(seed)
    home.tell(say("Hello all.", "m0", by="u0"))
    n = 0
    for _ in range(3):
        for _ in range(20):
            n += 1
            home.tell(*_next(draw, home, n))
        head = home.ledger.head(ZONE).number
        # Mostly the first messages, which gave the merges.
        earliest = draw.randrange(1, head // 3)
        targets = [draw.randrange(1, head + 1), earliest]
        before = live(home)
        said = _previewed(home, targets)
        assert live(home) == before, "the dry run changed something"
        home.tell(forget(*targets, at=START + n))
        left = agree(home)
        assert said == {name: left[name] for name in said}
        _check_reads(home)


def _previewed(home: Home, numbers: list[int]) -> dict[str, str]:
    """Return the hashes of the decided files as a dry run of an erasure shows them."""
    with (
        home.files() as files,
        home.driver(files) as driver,
        driver.erasure_preview(numbers),
    ):
        return {model.name: content_hash(model) for model in files.decided}


def _check_reads(home: Home) -> None:
    """Check that each decision has recorded what it reads when everything is decided again.

    Otherwise a later erasure would not find it.
    """
    with copy_of(home) as copy:
        rebuild(copy.node, ZONE, "derive")
        fresh = _reads(copy)
    recorded = _reads(home)
    for number, keys in fresh.items():
        assert keys <= recorded.get(number, set()), f"decision {number}"


def _reads(home: Home) -> dict[int, set[bytes]]:
    found = home.rows("memory", "SELECT number, reads FROM decisions")
    return {
        number: {reads[at : at + KEY_BYTES] for at in range(0, len(reads), KEY_BYTES)}
        for number, reads in found
    }
