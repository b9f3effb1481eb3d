"""A sheet for judging facts by hand: a hundred at random, each with its context.

python -m bench.recall.fact_sheet SHEET [--seed N] [--data DIR]

A third each comes from the demo export, from LoCoMo's dev conversations and from RealMem's
personas; `DIR` holds `locomo-dev.json` and `mind/realmem`, which are not part of this repository.
SHEET gets one JSON object per line: `number`, `set`, `fact`, `subject`, `attribute`, `value`,
`when`, `said_by`, `said_at`, `turn`, `turn_id`, and the turns `before`. Two independent judges add
`useful` and `faithful` to copies of it; lab/facts/ has the results.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.kit.encoders import cached_name
from bench.kit.homes import Homes
from bench.recall import locomo
from bench.recall.context import DATA, DEMO, json_lines
from bench.recall.locomo import Json
from recollect import Recollect, Zone

FACTS = 100
# The number of turns shown before the turn of a fact.
_BEFORE = 3


def sheet(data: Path, seed: int) -> list[Json]:
    """Return the rows of a sheet: the same for the same facts, data and seed."""
    sets = {
        "demo": {"demo": json_lines(DEMO / "export.jsonl")},
        "locomo": {
            f"talk-{number}": list(locomo.events(talk))
            for number, talk in enumerate(json.loads((data / "locomo-dev.json").read_text()))
        },
        "realmem": {
            path.stem: [row["event"] for row in json_lines(path)]
            for path in sorted((data / "mind" / "realmem").glob("*.jsonl"))
        },
    }
    rows: list[Json] = []
    draw = random.Random(seed)
    with Homes() as homes, Recollect(homes.fresh(), encoder=cached_name()) as recollect:
        for place, (name, zones) in enumerate(sets.items()):
            lines: list[Json] = []
            for zone_name, events in zones.items():
                zone = recollect.zone(f"{name}-{zone_name}".lower().replace("_", "-"))
                zone.ingest(events)
                lines += _rows(zone, events, name)
            wanted = FACTS // len(sets) + (place < FACTS % len(sets))
            rows += draw.sample(sorted(lines, key=lambda row: row["turn_id"] + row["fact"]), wanted)
    return [{"number": number, **row} for number, row in enumerate(rows, 1)]


def _rows(zone: Zone, events: Sequence[Json], name: str) -> Iterator[Json]:
    places = {event["id"]: place for place, event in enumerate(events)}
    for fact in zone.facts(superseded=True):
        # The latest turn is the one from which the fact was extracted.
        place = max(places[id_] for id_ in fact.source_event_ids)
        turn = events[place]
        yield {
            "set": name,
            "fact": fact.text,
            "subject": fact.subject,
            "attribute": fact.attribute,
            "value": fact.value,
            "when": None if fact.when is None else [fact.when.first, fact.when.last],
            "current": fact.current,
            "said_by": turn.get("sender_name") or turn["sender_id"],
            "said_at": turn["occurred_at"],
            "turn": _shown(turn),
            "turn_id": turn["id"],
            "before": [
                f"{earlier.get('sender_name') or earlier['sender_id']}: {_shown(earlier)}"
                for earlier in events[:place]
                if earlier.get("thread_id") == turn.get("thread_id")
                and earlier.get("session_id") == turn.get("session_id")
            ][-_BEFORE:],
        }


def _shown(event: Json) -> str:
    pictures = [
        f" [{picture['caption']}]"
        for picture in event.get("attachments") or ()
        if picture.get("caption")
    ]
    return str(event.get("content") or "") + "".join(pictures)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a sheet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args(arguments)
    rows = sheet(options.data, options.seed)
    options.sheet.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
