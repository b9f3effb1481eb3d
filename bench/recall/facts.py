"""The value of facts: blocks of facts in comparison with blocks of turns, and their coverage.

python -m bench.recall.facts [--data FILE]

FILE holds conversations in LoCoMo's format; they are not part of this repository.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.kit.report import Report, Target, count, markdown
from bench.recall import locomo
from bench.recall.context import ANSWERABLE, share_of_words
from bench.recall.locomo import DATA, Json
from recollect import Recollect, Zone
from recollect.schemas.wire import Result, Scope
from recollect.text.dates.resolved_dates import day_in_words

#: Size of a block in word pieces; minimum gain of facts over turns, in percentage points of the
#: answers' words.
ROOM, MIN_GAIN = 500, 5.0
#: Targets: minimum share of evidence turns with a fact; maximum number of words in facts, as a
#: share of all words; how much more often evidence turns have facts than turns in general.
MIN_CITED, MAX_KEPT, MIN_LIFT = 0.85, 0.40, 1.5

_RESULTS = 100
_OF_CONTEXT = "facts and turns, as `context` gives them"
_WORD = re.compile(r"\w+")
# The resolved days, and the punctuation at the end.
_ADDED = re.compile(r"(?: \([\d-]+(?: to [\d-]+)?\))?[.!?]?$")


class Measurements(NamedTuple):
    """The measurements of one conversation.

    `cited`: for each turn, whether it has a fact. `evidence`: the same for each turn that an answer
    rests on, once for each question. `said`, `kept`: the number of words in turns and in facts.
    `same`: for each fact, whether its turn contains it word for word, apart from the speaker's
    name. `shares`: kind of block -> for each question, the share of the answer's words in it.
    """

    cited: list[bool]
    evidence: list[bool]
    said: int
    kept: int
    same: list[bool]
    shares: dict[str, list[float]]


def run(data: Path = DATA) -> Report:
    """Measure the conversations in a file."""
    title = "Facts"
    about = (
        "The percentage of the words of LoCoMo's answers, without stop words, that occur in a "
        f"block of {ROOM} word pieces for the question. `context` includes the best turns in full "
        "and the facts of others, with their days and speakers, and counts all of that. The other "
        "blocks contain the results of recall; their speakers and days are not counted. Below, the "
        "coverage of turns by facts."
    )
    columns = ["what", "figure"]
    if not data.is_file():
        return Report(title, about, columns, [], skipped=f"{data.name} does not exist")
    with (
        tempfile.TemporaryDirectory(prefix="recollect-facts-") as scratch,
        Recollect(Path(scratch) / "home") as r,
    ):
        held = [_measure(r, talk) for talk in json.loads(data.read_text("utf-8"))]
    shares = {
        kind: 100 * float(np.mean([share for measured in held for share in measured.shares[kind]]))
        for kind in held[0].shares
    }
    evidence = float(np.mean([cited for measured in held for cited in measured.evidence]))
    every = float(np.mean([cited for measured in held for cited in measured.cited]))
    kept = sum(measured.kept for measured in held) / sum(measured.said for measured in held)
    same = [verbatim for measured in held for verbatim in measured.same]
    gains = [
        (f"{of}: at least {MIN_GAIN:g} points more than {than}", shares[of] - shares[than])
        for of in ("facts", "facts with their days", _OF_CONTEXT)
        for than in ("turns", "turns with their days")
    ]
    lift = evidence / every
    rows = [
        *([f"words of the answer in a block of {kind}", f"{shares[kind]:.1f}%"] for kind in shares),
        [
            "turns, facts",
            f"{count(sum(len(measured.cited) for measured in held))}, {count(len(same))}",
        ],
        ["turns with a fact", f"{every:.3f}"],
        ["evidence turns with a fact", f"{evidence:.3f}"],
        ["words in facts, as a share of the words in turns", f"{kept:.3f}"],
        ["facts that occur in their turn word for word", f"{float(np.mean(same)):.3f}"],
    ]
    targets = [
        *(Target(wanted, f"{gain:+.1f}", gain >= MIN_GAIN) for wanted, gain in gains),
        Target(
            f"evidence turns with a fact, {MIN_CITED} or more",
            f"{evidence:.3f}",
            evidence >= MIN_CITED,
        ),
        Target(f"words in facts, {MAX_KEPT} or less", f"{kept:.3f}", kept <= MAX_KEPT),
        Target(f"lift of evidence, {MIN_LIFT} or more", f"{lift:.2f}", lift >= MIN_LIFT),
    ]
    return Report(title, about, columns, rows, targets)


def _measure(r: Recollect, talk: Json) -> Measurements:
    zone = r.zone(talk["sample_id"])
    turns = list(locomo.events(talk))
    zone.ingest(turns)
    contents = {turn["id"]: turn["content"] for turn in turns}
    speakers = {turn["id"]: turn["sender_name"] for turn in turns}
    facts = [
        (fact.text, [id_ for id_ in fact.source_event_ids if id_ in contents])
        for fact in zone.facts(superseded=True)
    ]
    with_fact = {id_ for _, sources in facts for id_ in sources}
    questions = [item for item in talk["qa"] if item["category"] in ANSWERABLE]
    shares: dict[str, list[float]] = {}
    for item in questions:
        for kind, block in _blocks(zone, item["question"]).items():
            shares.setdefault(kind, []).append(share_of_words(str(item["answer"]), block))
    return Measurements(
        cited=[id_ in with_fact for id_ in contents],
        evidence=[
            id_ in with_fact
            for item in questions
            for id_ in dict.fromkeys(item.get("evidence", ()))
            if id_ in contents
        ],
        said=sum(map(_words, contents.values())),
        kept=sum(_words(text) for text, _ in facts),
        same=[
            any(_bare_text(text, speakers[id_]) in contents[id_] for id_ in sources)
            for text, sources in facts
        ],
        shares=shares,
    )


def _blocks(zone: Zone, question: str) -> dict[str, str]:
    """Return kind -> block for a question."""

    def found(*scope: Scope) -> list[Result]:
        return zone.recall(question, max_results=_RESULTS, max_tokens=ROOM, scope=scope).results

    turns = [(_with_speaker(result), result) for result in found("events")]
    facts = found("facts")
    return {
        _OF_CONTEXT: zone.context(question, max_tokens=ROOM).block,
        "facts": "\n".join(fact.text for fact in facts),
        "facts with their days": "\n".join(f"{_day(fact)} {fact.text}" for fact in facts),
        "turns": "\n".join(text for text, _ in turns),
        "turns with their days": "\n".join(f"{_day(result)} {text}" for text, result in turns),
        "both": "\n".join(map(_with_speaker, found("facts", "events"))),
    }


def _with_speaker(result: Result) -> str:
    return result.text if result.type == "fact" else f"{result.sender_name}: {result.text}"


def _day(result: Result) -> str:
    return day_in_words(datetime.fromisoformat(result.as_of).date())


def _bare_text(text: str, speaker: str) -> str:
    """Return a fact's text without the speaker's name, the resolved days and the final point."""
    return _ADDED.sub("", text.removeprefix(f"{speaker}: "))


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall.facts", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, default=DATA)
    print(markdown(run(parser.parse_args(arguments).data)))


if __name__ == "__main__":
    main()
