"""Recall quality on conversations in LoCoMo's form, through the command line.

python -m bench.recall.locomo [--data FILE] [--scorer FILE] [--encoder NAME|none] [--scope a,b]
                       [--home DIR] [--keep]

Neither the conversations nor the scorer are part of this repository; without them nothing is
measured.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from bench.kit.report import Report, Target, count, markdown, percentile
from bench.recall import least_scores, weights
from recollect.home.home_directory import Home

_SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA = _SHARED / "data" / "locomo-dev.json"
SCORER = _SHARED / "eval" / "retrieval_eval.py"

RESULTS = 50
#: The minimum recall@10, by group of questions.
MIN_RECALL = {"overall": 88.0, "multi-hop": 60.0}
_FIGURES = ("recall@5", "recall@10", "recall@25", "recall@50", "ndcg@10", "mrr")

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a run. `home` None: a new home, which is deleted unless `keep` is set."""

    data: Path = DATA
    scorer: Path = SCORER
    encoder: str | None = None
    scope: str | None = None
    home: Path | None = None
    keep: bool = False


class Answers(msgspec.Struct):
    """The results: ranked turn ids by question, and the ms of each answer."""

    ranked: dict[str, list[str]] = {}
    ms: list[float] = []


def run(options: Options) -> list[Report]:
    """Ingest every conversation into a zone of its own, ask all its questions, and score.

    With an encoder, also measure the value of each part of recall, and cross-validated weights.
    """
    title = "LoCoMo"
    columns = ["questions", "n", *_FIGURES]
    about = (
        "Every conversation is ingested into a zone of its own and queried through the command "
        "line. A result stands for the turns that it cites, in the order cited."
    )
    missing = [path.name for path in (options.data, options.scorer) if not path.is_file()]
    if missing:
        skipped = f"{' and '.join(missing)} missing; give them with --data and --scorer"
        return [Report(title, about, columns, [], skipped=skipped)]
    scorer = scorer_of(options.scorer)
    samples: list[Json] = json.loads(options.data.read_text("utf-8"))
    answers = Answers()
    with tempfile.TemporaryDirectory(prefix="recollect-locomo-") as scratch:
        home = options.home or Path(scratch) / "home"
        command = Command(home)
        command.run("init", *(("--encoder", options.encoder) if options.encoder else ()))
        began = time.monotonic()
        turns = sum(ingest(command, sample, Path(scratch)) for sample in samples)
        ingested_s = time.monotonic() - began
        for sample in samples:
            _ask(command, sample, Path(scratch), options.scope, answers)
        questions = scorer.load_questions(options.data)
        pin = Home(home).settings.encoder
        others: list[Report] = []
        if pin is not None:
            others.append(least_scores.report(samples, command.run, Path(scratch)))
            with weights.open_zones(Home(home), samples) as zones:
                others.append(weights.ablation(zones, scorer, questions, RESULTS))
                others.append(weights.leave_one_out(zones, scorer, questions, RESULTS))
        if options.keep and options.home is None:
            kept = tempfile.mkdtemp(prefix="recollect-locomo-kept-")
            shutil.move(home, kept)
            print(f"the home is kept in {kept}/home", file=sys.stderr)
    scores = scorer.evaluate(answers.ranked, questions)
    rows = [
        [name, str(row["n"]), *(f"{100 * row[figure]:.1f}" for figure in _FIGURES)]
        for name, row in scores.items()
        if name != "meta" and row["n"]
    ]
    about += (
        f" {count(turns)} turns, encoder {pin.model if pin else 'none'}, ingested in "
        f"{ingested_s:.1f} s; an answer took {percentile(answers.ms, 0.5):.1f} ms (p50), without "
        "embedding the question."
    )
    targets = []
    for group, least in MIN_RECALL.items():
        recall = 100 * scores[group]["recall@10"]
        wanted = f"recall@10 of at least {least:.0f}, {group}"
        targets.append(Target(wanted, f"{recall:.1f}", recall >= least))
    return [Report(title, about, columns, rows, targets), *others]


def events(sample: Json) -> Iterator[Json]:
    """Yield a conversation's turns as events, each a second after the one before."""
    conversation = sample["conversation"]
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        date_time = conversation.get(f"session_{number}_date_time", "")
        start = datetime.strptime(date_time, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(conversation[f"session_{number}"]):
            at = (start + timedelta(seconds=place)).isoformat()
            event = {
                "id": turn["dia_id"],
                "platform": "locomo",
                "sender_id": turn["speaker"],
                "sender_name": turn["speaker"],
                "session_id": f"session_{number}",
                "occurred_at": at,
                "ingested_at": at,
                "content": turn["text"],
            }
            if turn.get("blip_caption"):
                event["attachments"] = [{"type": "image", "caption": turn["blip_caption"]}]
            yield event


_SESSION = re.compile(r"session_(\d+)")


def ranked_turns(results: Sequence[Json]) -> list[str]:
    """Return the turns that the results cite, best first, without duplicates."""
    return list(dict.fromkeys(id_ for result in results for id_ in result["source_event_ids"]))


class Command:
    """The installed command, on one home."""

    def __init__(self, home: Path) -> None:
        script = Path(sys.executable).with_name("recollect")
        start = "from recollect.cli import main; main()"
        called = [str(script)] if script.exists() else [sys.executable, "-c", start]
        self._called = [*called, "--home", str(home)]

    def run(self, *arguments: str) -> str:
        """Return the output of a command; exit if it fails."""
        done = subprocess.run(
            [*self._called, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"recollect {' '.join(arguments)} failed: {done.stderr}")
        return done.stdout


def ingest(command: Command, sample: Json, scratch: Path) -> int:
    path = scratch / f"{sample['sample_id']}.jsonl"
    lines = [json.dumps(event) for event in events(sample)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    counts = json.loads(
        command.run("ingest", str(path), "--zone", sample["sample_id"], "--json"),
    )
    if counts["rejected"] or counts["new"] + counts["duplicate"] != len(lines):
        raise SystemExit(f"not all of {len(lines)} turns were ingested: {counts}")
    return len(lines)


def _ask(
    command: Command, sample: Json, scratch: Path, scope: str | None, answers: Answers
) -> None:
    name = sample["sample_id"]
    path = scratch / f"{name}.questions.jsonl"
    asked = [
        {"id": f"{name}:{index}", "query": item["question"]}
        for index, item in enumerate(sample["qa"])
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in asked), encoding="utf-8")
    scoped = ("--scope", scope) if scope else ()
    output = command.run(
        "recall", "--batch", str(path), "-k", str(RESULTS), "--zone", name, *scoped, "--json"
    )
    for line in output.splitlines():
        answer = json.loads(line)
        answers.ranked[answer["id"]] = ranked_turns(answer["results"])
        answers.ms.append(answer["ms"])


def scorer_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("locomo_scorer", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path.name} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look up their module by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall.locomo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, default=DATA, help="conversations with questions")
    parser.add_argument("--scorer", type=Path, default=SCORER, help="a module that scores a run")
    parser.add_argument("--encoder", help="name of an encoder, or none [the best one available]")
    parser.add_argument("--scope", help="comma-separated types of results [the default of recall]")
    parser.add_argument("--home", type=Path, help="use this home, and leave it there")
    parser.add_argument("--keep", action="store_true", help="keep the home, and print its path")
    print("\n".join(map(markdown, run(Options(**vars(parser.parse_args(arguments)))))))


if __name__ == "__main__":
    main()
