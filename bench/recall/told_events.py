"""Broad needs: the share of a life's events that are told in 500 tokens.

python -m bench.recall.told_events [--data FILE] [--encoder NAME|none]

`FILE` holds conversations in LoCoMo's form with `event_summary`: what happened to each speaker, in
one sentence for each event. It is not part of this repository; without it nothing is measured. An
event is told if one line has at least half of its content words, by their stems and without the
speakers' names; a line is a sentence of a fact or a turn in the block, or a line of the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.kit.report import Report, Target, markdown, percentile
from bench.recall import locomo
from recollect import Recollect, Zone
from recollect.streams.mental_models.page import PageFact, compose
from recollect.text.lexicon import FUNCTION_WORDS
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

ROOM = 500
#: The share of an event's content words that a line has if it tells the event.
SHARE = 0.5
#: The share of the events that a block should tell.
MIN_TOLD = 24.0
#: The facts of the page that is timed, and how long it may take (ms).
FACTS, MAX_REFRESH_MS = 1_000, 50.0
_ENDINGS = ("ing", "ed", "es", "s", "e", "ly")

Json = dict[str, Any]


def run(data: Path = locomo.DATA, encoder: str | None = None) -> Report:
    """Ask for each speaker's life with and without profiles."""
    columns = ["block", "events", "told %"]
    about = (
        f'"What has happened in X\'s life?" in {ROOM} tokens. An event is told if one line has at '
        f"least {SHARE:.0%} of its content words, by their stems."
    )
    if not data.is_file():
        return Report("Broad needs", about, columns, [], skipped=f"{data.name} is missing")
    samples: list[Json] = json.loads(data.read_text("utf-8"))
    rows = []
    share = 0.0
    for name, facts in (("context without profiles", "0"), ("context with profiles", "20")):
        os.environ["RECOLLECT_PROFILE_FACTS"] = facts
        events, told_count = _told(samples, encoder)
        share = 100 * told_count / max(1, events)
        rows.append([name, str(events), f"{share:.1f}"])
    milliseconds = refresh_times(samples)
    targets = [
        Target(f"events told of at least {MIN_TOLD:.0f} %", f"{share:.1f}", share >= MIN_TOLD),
        Target(
            f"a page of {FACTS:,} facts in at most {MAX_REFRESH_MS:.0f} ms",
            f"{percentile(milliseconds, 0.5):.1f}",
            percentile(milliseconds, 0.5) <= MAX_REFRESH_MS,
        ),
    ]
    return Report("Broad needs", about, columns, rows, targets)


def _told(samples: Sequence[Json], encoder: str | None) -> tuple[int, int]:
    """Return how many events the summaries have, and how many of them blocks tell."""
    events = told_count = 0
    with tempfile.TemporaryDirectory() as scratch, Recollect(scratch, encoder=encoder) as home:
        for sample in samples:
            zone = home.zone(sample["sample_id"])
            zone.ingest(list(locomo.events(sample)))
            speakers = [sample["conversation"][f"speaker_{letter}"] for letter in "ab"]
            names = _stems(" ".join(speakers))
            for speaker in speakers:
                lines = [_stems(line) - names for line in _lines(zone, speaker)]
                for event in _events_of(sample, speaker):
                    words = _stems(event) - names
                    events += 1
                    told_count += any(len(words & line) >= SHARE * len(words) for line in lines)
    return events, told_count


def _lines(zone: Zone, speaker: str) -> list[str]:
    """Return the lines of the block about a speaker.

    Raises:
        RuntimeError: the block is empty, as it is if the machine is too busy to make it in time.
    """
    context = zone.context(f"What has happened in {speaker}'s life?", max_tokens=ROOM)
    block = context.block
    if not block:
        raise RuntimeError(
            f"the block about {speaker} in {zone.name} is empty after {context.ms:,.0f} ms; "
            "measure again when the machine is less busy"
        )
    return [part for line in block.splitlines() for part in re.split(r"; |(?<=[.!?]) ", line)]


def _events_of(sample: Json, speaker: str) -> Iterable[str]:
    for session in sample["event_summary"].values():
        if isinstance(session, dict):
            yield from session.get(speaker, [])


def _stems(text: str) -> set[str]:
    return {
        _stem(lower.removesuffix("'s"))
        for lower in tokenise(text).lowers
        if lower not in STOP_WORDS and lower not in FUNCTION_WORDS and not lower[0].isdigit()
    }


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def refresh_times(samples: Sequence[Json]) -> list[float]:
    """Return the ms that it takes to compose each of five pages, from different facts."""
    texts = [event["content"] for sample in samples for event in locomo.events(sample)]
    times = []
    for turn in range(5):
        facts = [
            PageFact(f"F{place}", f"Ada {turn}{place} {text}", "Ada", "", place * 3_600_000)
            for place, text in enumerate((texts * FACTS)[:FACTS])
        ]
        began = time.perf_counter()
        compose(facts, "2024-01-01")
        times.append((time.perf_counter() - began) * 1_000)
    return times


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall.told_events", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, default=locomo.DATA, help="conversations")
    parser.add_argument("--encoder", help="name of an encoder, or none [the best one available]")
    print(markdown(run(**vars(parser.parse_args(arguments)))))


if __name__ == "__main__":
    main()
