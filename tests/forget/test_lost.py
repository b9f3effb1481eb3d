"""An event whose key is lost for ever: its zone stands still until the event is given up."""

from __future__ import annotations

from contextlib import closing

import apsw

from recollect.schemas.ledger.records import read_event
from recollect.streams.ledger import EVENTS, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from tests.forget.kit import ZONE, Recollect, line

TEXTS = ("Ada moved to Berlin.", "Ada moved to Paris.", "Ada moved to Rome.", "Ada moved to Oslo.")


def found(recollect: Recollect) -> set[str]:
    """Return the ids of the sources that an answer rests on."""
    results = recollect.run("recall", "Where did Ada move?")["results"]
    return {id_ for result in results for id_ in result["source_event_ids"]}


def keys_of(recollect: Recollect) -> dict[int, bytes]:
    """Return the ids of the keys of the zone's events, by their numbers."""
    with closing(EmbeddedLedger(recollect.home)) as ledger:
        records = ledger.read(EVENTS, partition_of(ZONE), 0, 1_000, ZONE)
        envelopes = [read_event(record.value)[0] for record in records]
    return {envelope.number: envelope.key_id for envelope in envelopes}


def lose(recollect: Recollect, *numbers: int) -> None:
    """Lose keys as a disk does, or an older backup."""
    keys = keys_of(recollect)
    with closing(apsw.Connection(str(recollect.home / "keys.db"))) as file:
        for number in numbers:
            file.execute("DELETE FROM keys WHERE key_id = ?", (keys[number],))
            assert file.changes() == 1


def ingest(recollect: Recollect, *options: str) -> None:
    lines = [line(f"m{number}", text) for number, text in enumerate(TEXTS, 1)]
    recollect.ingest(*lines, options=options)


def test_a_zone_goes_on_without_events_that_are_given_up(recollect: Recollect) -> None:
    ingest(recollect, "--no-wait")
    lose(recollect, 2, 3)
    for command in (("recall", "Ada"), ("rebuild",), ("forget", "m1"), ("forget", "#1")):
        ended = recollect.end(*command)
        assert ended.status == 1
        assert "recollect forget '#2' --zone default" in ended.said, ended.said
    problems = " ".join(recollect.end("verify").answer["problems"])
    assert all(f"key of event {number} is missing" in problems for number in (2, 3)), problems
    beside = recollect.end("forget", "#2", "#1")
    assert beside.status == 2
    assert "in a separate call" in beside.said
    would = recollect.run("forget", "#2", "--dry-run")
    assert (would["forgotten"], would["events"]) == (["#2"], 1)
    assert recollect.end("recall", "Ada").status == 1, "it was not done"
    gone = recollect.run("forget", "#2", "#3")
    assert (gone["forgotten"], gone["events"], gone["already_forgotten"]) == (["#2", "#3"], 2, [])
    assert found(recollect) == {"m1", "m4"}
    assert recollect.whole()
    again = recollect.run("forget", "#2")
    assert (again["forgotten"], again["already_forgotten"]) == ([], ["#2"])
    recollect.run("rebuild", "--level", "derive")
    assert found(recollect) == {"m1", "m4"}
    assert recollect.whole()


def test_what_was_decided_from_it_goes_with_it(recollect: Recollect) -> None:
    ingest(recollect)
    lose(recollect, 2)
    assert not recollect.end("verify").answer["ok"]
    would = recollect.run("forget", "#2", "--dry-run")
    gone = recollect.run("forget", "#2")
    assert gone["forgotten"] == ["#2"]
    assert gone["facts"] > 0
    assert {**would, "dry_run": False} == gone
    assert found(recollect) == {"m1", "m3", "m4"}
    assert recollect.whole()
    assert recollect.left("Paris") == []
    recollect.run("rebuild", "--level", "derive")
    assert found(recollect) == {"m1", "m3", "m4"}


def test_an_erasure_whose_key_is_lost_cannot_be_given_up(recollect: Recollect) -> None:
    ingest(recollect)
    recollect.run("forget", "m1")
    number = max(keys_of(recollect))
    lose(recollect, number)
    ended = recollect.end("forget", f"#{number}")
    assert ended.status != 0
    assert "restore" in ended.said
