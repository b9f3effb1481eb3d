"""Evaluate what later messages end: python -m training.evaluate_lives [FILE ...] [--show].

Ingests the lives of each file into a scratch home with recollect's own reader, each message in a
conversation of its own, and prints how many of the facts that a later message ends, as labelled,
are no longer current, and how many other facts are not. Without files: those of
the corpus that no head is trained on. Read no line of `updates-test.jsonl`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from recollect import Fact, Recollect, Zone
from recollect.schemas.inbound import InboundEvent
from recollect.streams.encoder.catalog import MINILM
from training.labelled_corpus import LIVES_DEV, UPDATES_DEV, UPDATES_TEST, Life, lives

#: Facts on a page.
_PAGE = 500


def events(life: Life) -> Iterator[InboundEvent]:
    """Yield the messages of a life as events."""
    for place, message in enumerate(life.messages):
        id_ = f"{life.id}-{place}"
        yield InboundEvent(
            platform="sms",
            id=id_,
            sender_id=life.id,
            sender_name=life.owner,
            occurred_at=f"{message.at}T12:00:00Z",
            content=message.text,
            peer_id=id_,
            peer_kind="dm",
            thread_id=id_,
        )


def facts_by_event(zone: Zone) -> dict[str, list[Fact]]:
    """Return all facts of a zone, current or not, by the id of their event."""
    by_event: dict[str, list[Fact]] = defaultdict(list)
    cursor: str | None = None
    while True:
        page = zone.facts(superseded=True, limit=_PAGE, cursor=cursor)
        for fact in page.facts:
            by_event[fact.source_event_ids[0]].append(fact)
        cursor = page.cursor
        if cursor is None:
            return by_event


def evaluate(path: Path, show: bool) -> None:
    """Print the figures of a file of lives; `show`: print the errors too."""
    lives_ = list(lives(path))
    with (
        tempfile.TemporaryDirectory() as folder,
        Recollect(Path(folder) / "home", encoder=MINILM.name) as home,
    ):
        zone = home.zone("lives")
        zone.ingest([event for life in lives_ for event in events(life)])
        facts = facts_by_event(zone)
    labelled = [
        (f"{life.id}-{earlier}", message.text)
        for life in lives_
        for message in life.messages
        for fact in message.facts
        for earlier in fact.ends
    ]
    missed = [
        (id_, text) for id_, text in labelled if all(fact.current for fact in facts.get(id_, ()))
    ]
    ending = {id_ for id_, _ in labelled}
    wrong = [
        fact
        for id_, of_event in facts.items()
        for fact in of_event
        if id_ not in ending and not fact.current
    ]
    if show:
        for id_, text in missed:
            print(f"not ended: {[fact.text for fact in facts.get(id_, ())]} by {text!r}")
        for fact in wrong:
            print(f"ended wrongly: {fact.text!r}")
    print(f"{path.name}: {len(labelled) - len(missed)} of {len(labelled)} labelled ends are found")
    print(f"{path.name}: {len(wrong)} of {sum(map(len, facts.values()))} facts are ended wrongly")


def main() -> None:
    """Evaluate, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "files", type=Path, nargs="*", default=[LIVES_DEV, UPDATES_DEV, UPDATES_TEST]
    )
    parser.add_argument(
        "--show", action="store_true", help="print what is missed and ended wrongly"
    )
    given = parser.parse_args()
    for path in given.files:
        evaluate(path, given.show)


if __name__ == "__main__":
    main()
