"""The value of facts: blocks of facts in comparison with blocks of turns, and their coverage.

python -m bench.recall.facts [--data FILE]

FILE has conversations in LoCoMo's form, which are not part of this repository.
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

#: Word pieces of a block, and the minimum gain of facts in points of the answers' words.
ROOM, MIN_GAIN = 500, 5.0
#: Targets: the share of evidence turns with a fact; the maximum share of all words that facts
#: repeat; and how much likelier evidence is to have a fact than any turn.
MIN_CITED, MAX_KEPT, MIN_LIFT = 0.85, 0.40, 1.5

_RESULTS = 100
_OF_CONTEXT = "facts and turns, as `context` gives them"
_WORD = re.compile(r"\w+")
# The resolved days, and the punctuation at the end.
_ADDED = re.compile(r"(?: \([\d-]+(?: to [\d-]+)?\))?[.!?]?$")


class Held(NamedTuple):
    """What the facts of a conversation rest on, and what blocks hold.

    `cited`: for each turn whether it has a fact, `evidence`: the same of turns that an answer rests
    on, once for each question. `said` and `kept` count words. `shares`: of each question's answer
    the share of words in a block, by what the block was made of; `same`: of facts, whether they
    are in their turn word for word but for the speaker's name before them.
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
        f"Blocks of {ROOM} word pieces for a question: the share of the words of LoCoMo's answers "
        "in them, stop words left out. `context` gives the best turns whole and of others the "
        "facts, each with its day and those that are meant, and counts all of it. The others hold "
        "what recall finds, as it is; speakers of turns and days count no pieces there. Then what "
        "facts rest on."
    )
    columns = ["what", "figure"]
    if not data.is_file():
        return Report(title, about, columns, [], skipped=f"{data.name} is not there")
    with (
        tempfile.TemporaryDirectory(prefix="recollect-facts-") as scratch,
        Recollect(Path(scratch) / "home") as r,
    ):
        held = [_held(r, talk) for talk in json.loads(data.read_text("utf-8"))]
    shares = {
        kind: 100 * float(np.mean([share for each in held for share in each.shares[kind]]))
        for kind in held[0].shares
    }
    evidence = float(np.mean([cited for each in held for cited in each.evidence]))
    every = float(np.mean([cited for each in held for cited in each.cited]))
    kept = sum(each.kept for each in held) / sum(each.said for each in held)
    same = [verbatim for each in held for verbatim in each.same]
    gains = [
        (f"{of} hold {MIN_GAIN:g} points more than {than}", shares[of] - shares[than])
        for of in ("facts", "facts with their days", _OF_CONTEXT)
        for than in ("turns", "turns with their days")
    ]
    lift = evidence / every
    rows = [
        *([f"words of the answer in a block of {kind}", f"{shares[kind]:.1f}%"] for kind in shares),
        ["turns, facts", f"{count(sum(len(each.cited) for each in held))}, {count(len(same))}"],
        ["turns with a fact", f"{every:.3f}"],
        ["evidence turns with a fact", f"{evidence:.3f}"],
        ["words of the turns that stand in facts", f"{kept:.3f}"],
        ["facts that stand in their turn word for word", f"{float(np.mean(same)):.3f}"],
    ]
    targets = [
        *(Target(wanted, f"{gain:+.1f}", gain >= MIN_GAIN) for wanted, gain in gains),
        Target(
            f"evidence turns cited, {MIN_CITED} or more",
            f"{evidence:.3f}",
            evidence >= MIN_CITED,
        ),
        Target(f"words kept, {MAX_KEPT} or less", f"{kept:.3f}", kept <= MAX_KEPT),
        Target(f"lift of evidence, {MIN_LIFT} or more", f"{lift:.2f}", lift >= MIN_LIFT),
    ]
    return Report(title, about, columns, rows, targets)


def _held(r: Recollect, talk: Json) -> Held:
    zone = r.zone(talk["sample_id"])
    turns = list(locomo.events(talk))
    zone.ingest(turns)
    said = {turn["id"]: turn["content"] for turn in turns}
    speakers = {turn["id"]: turn["sender_name"] for turn in turns}
    facts = [
        (fact.text, [id_ for id_ in fact.source_event_ids if id_ in said])
        for fact in zone.facts(superseded=True)
    ]
    with_fact = {id_ for _, sources in facts for id_ in sources}
    questions = [item for item in talk["qa"] if item["category"] in ANSWERABLE]
    shares: dict[str, list[float]] = {}
    for item in questions:
        for kind, block in _blocks(zone, item["question"]).items():
            shares.setdefault(kind, []).append(share_of_words(str(item["answer"]), block))
    return Held(
        cited=[id_ in with_fact for id_ in said],
        evidence=[
            id_ in with_fact
            for item in questions
            for id_ in dict.fromkeys(item.get("evidence", ()))
            if id_ in said
        ],
        said=sum(map(_words, said.values())),
        kept=sum(_words(text) for text, _ in facts),
        same=[
            any(_unnamed(text, speakers[id_]) in said[id_] for id_ in sources)
            for text, sources in facts
        ],
        shares=shares,
    )


def _blocks(zone: Zone, question: str) -> dict[str, str]:
    """Return the blocks for a question, by their content."""

    def found(*scope: Scope) -> list[Result]:
        return zone.recall(question, max_results=_RESULTS, max_tokens=ROOM, scope=scope).results

    turns = [(_said(each), each) for each in found("events")]
    facts = found("facts")
    return {
        _OF_CONTEXT: zone.context(question, max_tokens=ROOM).block,
        "facts": "\n".join(each.text for each in facts),
        "facts with their days": "\n".join(f"{_day(each)} {each.text}" for each in facts),
        "turns": "\n".join(said for said, _ in turns),
        "turns with their days": "\n".join(f"{_day(each)} {said}" for said, each in turns),
        "both": "\n".join(map(_said, found("facts", "events"))),
    }


def _said(result: Result) -> str:
    return result.text if result.type == "fact" else f"{result.sender_name}: {result.text}"


def _day(result: Result) -> str:
    return day_in_words(datetime.fromisoformat(result.as_of).date())


def _unnamed(text: str, speaker: str) -> str:
    """Return a fact without its speaker and without additions at its end."""
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
