"""Which messages belong together; the oracle sorts all messages and divides them at once."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest

from recollect.schemas.changes import Episode, EpisodeEvent
from recollect.schemas.events import Draft
from recollect.streams.agents.episodes.episode_grouper import EpisodeGrouper
from tests.agents.kit import DAY, HOUR, MINUTE, START, Zone, says

Groups = set[tuple[str, ...]]


def groups(zone: Zone, definition: str) -> Groups:
    """Return the source ids of the messages of each current episode, in the order of their times.

    A version's messages are those of the versions before it, too.
    """
    names = dict(zone.ask("events", "SELECT id, source_id FROM events"))
    parents = dict(zone.ask("memory", "SELECT id, parent_id FROM episodes"))
    own: dict[str, list[str]] = {}
    for episode, event in zone.ask(
        "memory",
        "SELECT episode_id, event_id FROM episode_events WHERE definition_id = ? AND is_standing",
        definition,
    ):
        own.setdefault(episode, []).append(event)
    found = set()
    for version in own.keys() - set(parents.values()):
        events: list[str] = []
        each: str | None = version
        while each is not None:
            events += own.get(each, [])
            each = parents[each]
        found.add(tuple(names[event] for event in sorted(events)))
    return found


def told(drafts: Iterable[Draft]) -> Zone:
    return Zone(EpisodeGrouper()).given(*drafts)


def said(id: str, text: str = "Hello.", *, after: int = 0, **fields: object) -> Draft:
    """Return a message that was sent `after` milliseconds after START."""
    return says("Ada", text, id=id, at=START + after, **fields)  # type: ignore[arg-type]


def divided(drafts: Sequence[Draft], gap: int) -> Groups:
    """The oracle: the messages of each thread, divided at each silence longer than `gap`."""
    found: list[list[Draft]] = []
    last: dict[str, Draft] = {}
    open_: dict[str, list[Draft]] = {}
    for draft in sorted(drafts, key=lambda draft: draft.occurred_at):
        thread = draft.payload.thread_id or ""  # type: ignore[union-attr]
        if thread not in last or draft.occurred_at - last[thread].occurred_at > gap:
            open_[thread] = []
            found.append(open_[thread])
        open_[thread].append(draft)
        last[thread] = draft
    return {tuple(draft.payload.source_id for draft in group) for group in found}


def test_a_thread_and_a_session_are_an_episode_each() -> None:
    zone = told(
        [
            said("a", thread_id="t", session_id="s"),
            said("b", thread_id="t", session_id="s2", after=40 * DAY),
            said("c", after=DAY),
        ]
    )
    assert groups(zone, "thread") == {("a", "b")}
    assert groups(zone, "session") == {("a",), ("b",)}


def test_a_day_is_local_and_spans_platforms() -> None:
    """START is 10:00 in UTC; in a zone nine hours ahead, 15:30 is the next day."""
    zone = told(
        [
            said("a", platform="mail"),
            said("b", after=5 * HOUR + 30 * MINUTE),
            said("c", after=5 * HOUR + 30 * MINUTE, utc_offset=540),
        ]
    )
    assert groups(zone, "day") == {("a", "b"), ("c",)}


def test_a_message_without_text_is_in_no_episode() -> None:
    assert told([said("a", "")]).ask("memory", "SELECT count(*) FROM episodes") == [(0,)]


def test_a_silence_ends_a_window() -> None:
    zone = told([said("a"), said("b", after=60 * MINUTE), said("c", after=120 * MINUTE + 1)])
    assert groups(zone, "time_window") == {("a", "b"), ("c",)}


def test_a_late_message_joins_two_windows() -> None:
    zone = told([said("a"), said("c", after=100 * MINUTE)])
    assert groups(zone, "time_window") == {("a",), ("c",)}
    zone.given(said("b", after=50 * MINUTE))
    assert groups(zone, "time_window") == {("a", "b", "c")}


@pytest.mark.parametrize("seed", range(20))
def test_windows_are_those_of_all_messages_in_order(seed: int) -> None:
    draw = random.Random(seed)
    drafts = [
        said(str(n), after=draw.randrange(2_000) * MINUTE + n, thread_id=draw.choice("tu"))
        for n in range(40)
    ]
    assert groups(told(drafts), "time_window") == divided(drafts, 60 * MINUTE)


TEXTS = (
    "The ferry to Naxos leaves from Piraeus harbour.",
    "Naxos has a small harbour with a lighthouse.",
    "Shall we book the ferry now?",
    "My sister plants tomatoes and beans behind her kitchen.",
    "Tomatoes need plenty of water in August.",
    "Ok.",
    "The violin quartet rehearses Schubert on Fridays.",
    "Schubert wrote that quartet in Vienna.",
)


def test_a_topic_ends_where_nothing_is_shared() -> None:
    zone = told(said(str(n), TEXTS[n], after=n * MINUTE) for n in (0, 1, 3, 4, 5, 6, 7))
    assert groups(zone, "topic") == {("0", "1"), ("3", "4", "5"), ("6", "7")}


def test_an_answer_belongs_to_the_topic_of_its_question() -> None:
    zone = told([said("q", TEXTS[2]), said("a", TEXTS[6], after=MINUTE)])
    assert groups(zone, "topic") == {("q", "a")}


@pytest.mark.parametrize("seed", range(30))
def test_topics_do_not_depend_on_the_order_of_arrival(seed: int) -> None:
    draw = random.Random(seed)
    drafts = [
        said(str(n), draw.choice(TEXTS), after=draw.randrange(600) * MINUTE + n) for n in range(25)
    ]
    in_order = sorted(drafts, key=lambda draft: draft.occurred_at)
    expected = groups(told(in_order), "topic")
    for order in (in_order[::-1], drafts, draw.sample(drafts, len(drafts))):
        assert groups(told(order), "topic") == expected


def test_messages_in_order_move_no_other_message() -> None:
    zone = Zone(EpisodeGrouper())
    for n, text in enumerate(TEXTS * 3):
        outcome = zone.read(said(str(n), text, after=n * 20 * MINUTE))
        assert outcome.rows(EpisodeEvent) != []
        assert {row.number for row in outcome.rows(EpisodeEvent)} == {outcome.event.number}
        assert set(outcome.sources_of(Episode)) <= {(outcome.event.number,)}


def test_messages_in_reverse_move_no_other_message() -> None:
    zone = Zone(EpisodeGrouper())
    for n in range(30):
        outcome = zone.read(said(str(n), after=(30 - n) * MINUTE))
        assert {row.number for row in outcome.rows(EpisodeEvent)} == {outcome.event.number}


def test_a_moved_message_is_a_source_of_its_row() -> None:
    zone = told([said("a"), said("c", after=100 * MINUTE)])
    outcome = zone.read(said("b", after=50 * MINUTE))
    moved = [
        (part.sources, {row.number for row in part.puts if isinstance(row, EpisodeEvent)})
        for part in outcome.parts
        if part.sources != (3,)
    ]
    assert [sources for sources, _ in moved] in ([(1, 3)], [(2, 3)])
    assert all(numbers <= set(sources) for sources, numbers in moved)


def analyse(zone: Zone, definition: str) -> str:
    """Store an analysis of the only current episode of a definition; return the episode's id."""
    ((episode,),) = zone.ask(
        "memory",
        "SELECT id FROM episodes AS each WHERE definition_id = ? AND event_count > 0 "
        "AND NOT EXISTS (SELECT 1 FROM episodes WHERE parent_id = each.id)",
        definition,
    )
    zone.ask(
        "memory",
        "INSERT INTO analysis_runs (id, analysis_type_id, episode_id, status, created_at) "
        "VALUES (?, 'observation_v1', ?, 'completed', 0)",
        f"run of {episode}",
        episode,
    )
    return str(episode)


@pytest.mark.parametrize("definition", ["thread", "day", "time_window", "topic"])
def test_an_analysed_episode_grows_by_a_new_version(definition: str) -> None:
    zone = told([said("a", thread_id="t"), said("b", thread_id="t", after=MINUTE)])
    first = analyse(zone, definition)
    zone.given(said("c", thread_id="t", after=2 * MINUTE), said("d", thread_id="t", after=-MINUTE))
    second = analyse(zone, definition)
    zone.given(said("e", thread_id="t", after=3 * MINUTE))
    assert groups(zone, definition) == {("d", "a", "b", "c", "e")}
    versions = zone.ask(
        "memory",
        "SELECT parent_id, event_count, end_time - start_time FROM episodes "
        "WHERE definition_id = ? ORDER BY event_count",
        definition,
    )
    assert versions == [
        (None, 2, MINUTE),
        (first, 4, 3 * MINUTE),
        (second, 5, 4 * MINUTE),
    ]


def test_a_late_message_leaves_the_bounds_of_analysed_windows() -> None:
    zone = told([said("a", after=-10 * MINUTE), said("b")])
    analyse(zone, "time_window")
    zone.given(said("d", after=100 * MINUTE), said("c", after=50 * MINUTE))
    assert groups(zone, "time_window") == {("a", "b", "c"), ("d",)}


def test_a_version_counts_events_of_earlier_ones_in_any_order() -> None:
    """As a replica may get them, after an erasure."""
    event = EpisodeEvent("v1", "e1", "topic", 1, START)
    later = [
        Episode("v2", "topic", None, None, "v1", START),
        EpisodeEvent("v2", "e2", "topic", 2, START + MINUTE),
    ]
    first = Episode("v1", "topic", None, None, None, START)
    counts = "SELECT id, event_count, start_time, first_event_id FROM episodes ORDER BY id"
    expected = [("v1", 1, START, "e1"), ("v2", 2, START, "e1")]
    for rows in ([first, event, *later], [*later, event, first], [first, *later, event]):
        assert Zone().given(*rows).ask("memory", counts) == expected
