"""Drives the installed `recollect` command as a newcomer would, and checks every answer.

    python -m demo.run                    the sample export of this folder
    python -m demo.run --generated 7      another world, made from seed 7

The exit status is 1, with a plain message, as soon as a step does not give what it should.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo import generate

HERE = Path(__file__).parent
BAD_LINES = HERE / "bad-lines.jsonl"
TOP = 5
SHOWN = 3
WIDTH = 100
# Search is not exact: one question in five may miss the top 5; more than that is an error.
ASKED_PER_MISS = 5
# The first use of an encoder may have to download it over a slow connection.
PATIENCE_SECONDS = 1800
REBUILDS = ("index", "project", "derive")
# In more results than a person would read, erased data must be missing too.
DEEP = 50

Json = dict[str, Any]


class Failed(Exception):
    """A step did not give the expected result."""


@dataclass(frozen=True)
class Question:
    """A query, and the source ids any of which answers it."""

    id: str
    query: str
    expect: tuple[str, ...]


@dataclass(frozen=True)
class World:
    """An export with its questions, and the message of it to be forgotten."""

    export: Path
    events: dict[str, Json]
    questions: list[Question]
    forget: str
    phrase: str

    @property
    def needles(self) -> tuple[bytes, ...]:
        """Return the phrase and its longest word, in lower case, since an index stores words."""
        phrase = self.phrase.lower()
        return phrase.encode(), max(phrase.split(), key=len).encode()


@dataclass
class Recollect:
    """The command, its home, and the durations of its runs."""

    command: Path
    home: Path
    took: float = field(default=0.0, init=False)

    def __call__(self, *words: str, statuses: tuple[int, ...] = (0,)) -> Json:
        """Run a command that prints one JSON object, and return it."""
        answers = self.stream(*words, statuses=statuses)
        expect(len(answers) == 1, f"{words[0]} --json gave {len(answers)} documents, not one")
        return answers[0]

    def stream(self, *words: str, statuses: tuple[int, ...] = (0,)) -> list[Json]:
        """Run a command that answers one JSON object a line, and return them.

        Raises:
            Failed: its status is not one of `statuses`, or its output is not JSON.
        """
        print(f"  $ recollect {' '.join(map(quoted, words))}")
        environment = {**os.environ, "RECOLLECT_HOME": str(self.home)}
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [str(self.command), *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{words[0]} has not ended after {late.timeout:.0f} s") from late
        self.took = time.perf_counter() - started
        said = "\n".join(text.strip() for text in (done.stderr, done.stdout) if text.strip())
        expect(
            done.returncode in statuses,
            f"{words[0]} ended with status {done.returncode} and said:\n{said}",
        )
        return json_objects(words[0], done.stdout, said)


def quoted(word: str) -> str:
    """Return `word` as a shell takes it, in double quotes where those read better."""
    if "'" in word and not set(word) & set('"$`\\!'):
        return f'"{word}"'
    return shlex.quote(word)


def json_objects(command: str, text: str, said: str) -> list[Json]:
    """Return the JSON objects of `text`, even if they span several lines."""
    decoder = json.JSONDecoder()
    found = []
    rest = text.strip()
    while rest:
        try:
            answer, end = decoder.raw_decode(rest)
        except json.JSONDecodeError as error:
            raise Failed(f"{command} --json gave what is not JSON ({error}):\n{said}") from error
        expect(isinstance(answer, dict), f"{command} --json gave no JSON object:\n{said}")
        found.append(answer)
        rest = rest[end:].lstrip()
    return found


def cites(result: Json, wanted: tuple[str, ...]) -> bool:
    return any(source in wanted for source in value(result, "source_event_ids"))


def expect(true: bool, otherwise: str) -> None:
    if not true:
        raise Failed(otherwise)


def value(answer: Json, key: str) -> Any:
    expect(key in answer, f"the answer has no {key!r} but {sorted(answer)}")
    return answer[key]


def title(text: str) -> None:
    print(f"\n{text}")


def say(name: str, text: str) -> None:
    print(f"    {name:<12}{cut(text, WIDTH - 16)}")


def cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def seconds(number: float) -> str:
    return f"{number:.1f} s"


def in_short(entry: Any) -> str:
    """Return a JSON value on one line: a list by its length, an object by its members."""
    if isinstance(entry, list):
        return str(len(entry))
    if isinstance(entry, dict):
        return ", ".join(f"{name} {in_short(inner)}" for name, inner in entry.items())
    return str(entry)


# The steps, in order.


def make_home(run: Recollect, encoder: str | None) -> None:
    title("A home, and the encoder that is pinned in it (the first time it may be fetched)")
    answer = run("init", *(("--encoder", encoder) if encoder else ()), "--json")
    expect(run.home.is_dir(), f"init made no directory at {run.home}")
    for name in ("encoder", "model"):
        if answer.get(name):
            say(name, in_short(answer[name]))
    say("took", seconds(run.took))


def bring_in(run: Recollect, world: World) -> None:
    count = len(world.events)
    title(f"The export: {count} events of {len(platforms(world))} platforms")
    answer = run("ingest", short(world.export), "--json")
    say("counts", counts(answer))
    say("took", f"{seconds(run.took)}, {count / run.took:.0f} events/s, recallable")
    expect(value(answer, "rejected") == 0, f"{answer['rejected']} good events were rejected")
    expect(value(answer, "new") == count, f"{answer['new']} events are new, not {count}")

    title("The same export once more: nothing is new")
    bring_in_again(run, world)


def bring_in_again(run: Recollect, world: World) -> None:
    answer = run("ingest", short(world.export), "--json")
    say("counts", counts(answer))
    expect(value(answer, "new") == 0, f"{answer['new']} known events were taken for new ones")


def counts(answer: Json) -> str:
    names = ("read", "new", "duplicate", "rejected")
    return ", ".join(f"{value(answer, name)} {name}" for name in names)


def platforms(world: World) -> list[str]:
    return sorted({event["platform"] for event in world.events.values()})


def refuse_bad_lines(run: Recollect) -> None:
    title("A file of bad lines: each is refused by name, and the good first line gets in")
    answer = run("ingest", short(BAD_LINES), "--json")
    rejections = value(answer, "rejections")
    for rejection in rejections:
        say(f"line {value(rejection, 'line')}", value(rejection, "reason"))
    lines = len(BAD_LINES.read_bytes().splitlines())
    refused = [rejection["line"] for rejection in rejections]
    expect(
        sorted(refused) == list(range(2, lines + 1)),
        f"lines 2 to {lines} are bad, and {refused} were rejected",
    )
    expect(all(rejection["reason"] for rejection in rejections), "a rejection has no reason")
    expect(value(answer, "new") == 1, f"{answer['new']} of the lines went in, not 1")


def look(run: Recollect, at_least: int) -> None:
    title("What the home holds")
    status = run("status", "--json")
    show_status(status)
    expect(
        value(status, "events") >= at_least,
        f"{status['events']} events, and {at_least} were brought in",
    )
    expect(value(status, "facts") > 0, "no fact was found in any event")
    expect(value(status, "entities") > 0, "no entity was found in any event")


def show_status(status: Json) -> None:
    names = ("events", "facts", "entities", "observations", "dead_letters", "lag")
    say("counts", ", ".join(f"{name} {in_short(value(status, name))}" for name in names))
    say("generation", in_short(value(status, "generation")))
    say("encoder", in_short(value(status, "encoder")))


def ask(run: Recollect, world: World) -> None:
    title(f"{len(world.questions)} questions (* an expected source, within the top {TOP})")
    hits = 0
    for question in world.questions:
        answer = run("recall", question.query, "-k", str(TOP), "--json")
        hits += show_answers(world, question, results_of(world, answer))
    judge(hits, len(world.questions))


def show_answers(world: World, question: Question, results: list[Json]) -> bool:
    """Print the first answers with their sources; return whether an expected one is there."""
    hits = [rank for rank, result in enumerate(results) if cites(result, question.expect)]
    for rank, result in enumerate(results):
        if rank < SHOWN or rank in hits[:1]:
            show_answer(world, result, rank, "*" if rank in hits else " ", rank in hits[:1])
    if not hits:
        print(f"    -  no source of {', '.join(question.expect)} in the top {TOP}")
    return bool(hits)


def show_answer(world: World, result: Json, rank: int, mark: str, at_length: bool) -> None:
    sources = cut(", ".join(source_name(world, name) for name in result["source_event_ids"]), 44)
    lines = textwrap.wrap(
        " ".join(f"[{sources}] {value(result, 'text')}".split()),
        width=WIDTH - 14,
        max_lines=2 if at_length else 1,
        placeholder=" …",
    )
    print(f"   {mark}{rank + 1}  {value(result, 'score'):5.2f}  {lines[0]}")
    for line in lines[1:]:
        print(" " * 14 + line)


def source_name(world: World, name: str) -> str:
    """Return the id of an event with its sender and day, if the export has it."""
    event = world.events.get(name)
    if event is None:
        return name
    return f"{name} {event.get('sender_name', event['sender_id'])} {event['occurred_at'][5:10]}"


def results_of(world: World, answer: Json) -> list[Json]:
    """Return the results of `answer`, each of which must cite existing events."""
    results: list[Json] = value(answer, "results")
    for result in results:
        sources = value(result, "source_event_ids")
        expect(bool(sources), f"a result cites no source: {value(result, 'text')}")
        # The valid line among the invalid ones is the only event that is not from the export.
        strangers = [
            name for name in sources if name not in world.events and not name.startswith("bad-")
        ]
        expect(not strangers, f"a result cites {strangers}, and there are no such events")
    return results


def judge(hits: int, asked: int) -> None:
    say("found", f"{hits} of {asked}")
    least = asked - math.ceil(asked / ASKED_PER_MISS)
    expect(hits >= least, f"{hits} of {asked} questions found an expected source, {least} should")


def forget(run: Recollect, world: World) -> None:
    event = world.events[world.forget]
    title(f"One message is to be forgotten: {world.forget}, with the phrase {world.phrase!r}")
    found = run("recall", world.phrase, "-k", str(TOP), "--json")
    expect(
        any(cites(result, (world.forget,)) for result in results_of(world, found)),
        f"{world.forget} is not recalled by its own phrase: nothing could be shown to be gone",
    )
    before = scan(run.home, world.needles)
    say("before", f"recalled; its words are in {places(run.home, before)}")
    expect(bool(before), "no file holds the phrase: a scan could not show that it is gone")

    answer = run("forget", world.forget, "--platform", event["platform"], "--json")
    say("went", in_short(answer))
    expect(bool(answer.get("forgotten", True)), f"forget says that nothing went: {answer}")
    expect_gone(run, world)

    title("Importing the export again does not bring it back")
    bring_in_again(run, world)
    expect_no_trace(run.home, world)


def expect_gone(run: Recollect, world: World) -> None:
    """Ask for the forgotten message in its own words and by its question; scan every byte."""
    queries = [asked.query for asked in world.questions if world.forget in asked.expect]
    for query in (*queries, world.phrase):
        answer = run("recall", query, "-k", str(DEEP), "--json")
        expect_none_of_it(world, results_of(world, answer))
        say("now", f"{len(answer['results'])} results, and it is not among them")
    expect_no_trace(run.home, world)


def expect_none_of_it(world: World, results: list[Json]) -> None:
    for result in results:
        text = result["text"].lower()
        expect(
            not cites(result, (world.forget,))
            and not any(needle.decode() in text for needle in world.needles),
            f"the forgotten message is recalled: {result['text']}",
        )


def expect_no_trace(home: Path, world: World) -> None:
    after = scan(home, world.needles)
    files = [path for path in home.rglob("*") if path.is_file()]
    expect(not after, f"after forgetting, its words are still in {places(home, after)}")
    say("now", f"its words are in none of {len(files)} files ({megabytes(files)})")


def scan(home: Path, needles: tuple[bytes, ...]) -> dict[Path, int]:
    """Return how often any of `needles` is in each file below `home`, in any case of letters."""
    found = {}
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        # A file of the write-ahead log may be deleted between the listing and the reading.
        with contextlib.suppress(FileNotFoundError):
            count = sum(count_in(path, needle) for needle in needles)
            if count:
                found[path] = count
    return found


def count_in(path: Path, needle: bytes, size: int = 1 << 22) -> int:
    """Count `needle` in a file that may be larger than memory."""
    count = 0
    with path.open("rb") as file:
        piece = b""
        while block := file.read(size):
            # One byte less than the needle is carried over, so that each occurrence is counted
            # once.
            piece = piece[max(0, len(piece) - len(needle) + 1) :] + block.lower()
            count += piece.count(needle)
    return count


def places(home: Path, found: dict[Path, int]) -> str:
    return ", ".join(f"{path.relative_to(home)} ({count})" for path, count in found.items())


def megabytes(files: list[Path]) -> str:
    size = 0
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return f"{size / 1e6:.1f} MB"


def rebuild(run: Recollect, world: World, scratch: Path) -> None:
    title("Everything is rebuilt by replay, level by level")
    before = run("status", "--json")
    for level in REBUILDS:
        answer = run("rebuild", "--level", level, "--json")
        say(
            value(answer, "level"),
            f"{value(answer, 'records')} records in {value(answer, 'seconds'):.1f} s, "
            f"generation {in_short(value(answer, 'generation'))}",
        )
        expect(answer["level"] == level, f"asked for {level}, and {answer['level']} was done")
        expect(answer["records"] > 0, "a rebuild of nothing proves nothing")
    after = run("status", "--json")
    show_status(after)
    for name in ("events", "facts", "entities", "observations"):
        expect(
            value(after, name) == value(before, name),
            f"{before[name]} {name} before the rebuilds, {after[name]} after",
        )
    expect_no_trace(run.home, world)

    title("The questions again, of what was rebuilt, in one batch")
    queries = {asked.id: asked.query for asked in world.questions} | {"phrase": world.phrase}
    batch = scratch / "batch.jsonl"
    lines = [json.dumps({"id": name, "query": query}) for name, query in queries.items()]
    batch.write_text("\n".join(lines) + "\n", encoding="utf-8")
    answers = run.stream("recall", "--batch", str(batch), "-k", str(TOP), "--json")
    expect(
        [value(answer, "id") for answer in answers] == list(queries),
        "a batch does not answer every question, in order",
    )
    found = {answer["id"]: results_of(world, answer) for answer in answers}
    for results in found.values():
        expect_none_of_it(world, results)
    left = [asked for asked in world.questions if world.forget not in asked.expect]
    judge(
        sum(any(cites(result, asked.expect) for result in found[asked.id]) for asked in left),
        len(left),
    )


def verify(run: Recollect) -> None:
    title("Proof: the ledger, replayed, gives the same content in every read model")
    # Status 1 is a result, too: it lists the differences.
    answer = run("verify", "--json", statuses=(0, 1))
    models = value(answer, "models")
    for model in models:
        mark = "same" if value(model, "ok") else f"not {value(model, 'replayed')[:32]}, replayed"
        say(value(model, "model"), f"{value(model, 'hash')[:32]}  {mark}")
    for problem in answer.get("problems", []):
        say("problem", problem)
    expect(value(answer, "ok") and value(answer, "ledger_ok"), "verify found a difference")
    expect(bool(models), "verify compared no read model")
    say("ledger", f"{value(answer, 'events')} events, the chain of hashes is whole")
    say("took", seconds(run.took))


# The world, the home and the command line.


def read_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load(export: Path, questions: Path, forget_id: str, phrase: str) -> World:
    """Read an export and its questions.

    Raises:
        ValueError: the phrase is not in that one message alone, so a scan would show nothing.
    """
    events = {event["id"]: event for event in read_lines(export)}
    asked = [
        Question(line["id"], line["query"], tuple(line["expect"])) for line in read_lines(questions)
    ]
    world = World(export, events, asked, forget_id, phrase)
    if forget_id not in events:
        raise ValueError(f"{export} has no event {forget_id}")
    for needle in world.needles:
        text = needle.decode()
        holders = [name for name, event in events.items() if text in event["content"].lower()]
        if holders != [forget_id]:
            raise ValueError(f"{text!r} should be in {forget_id} alone, and is in {holders}")
    return world


def find_command() -> Path | None:
    """Return the `recollect` of this Python, or else the first on the path."""
    beside = shutil.which("recollect", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("recollect")
    return Path(found) if found else None


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo.run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--home", type=Path, help="a new directory; it stays at the end")
    parser.add_argument("--keep", action="store_true", help="keep the temporary home")
    parser.add_argument("--export", type=Path, default=HERE / "export.jsonl")
    parser.add_argument("--questions", type=Path, help="default: questions.jsonl beside the export")
    parser.add_argument("--forget", metavar="ID", help="default: as meta.json beside the export")
    parser.add_argument("--phrase", help="words that only the message to forget has")
    parser.add_argument("--generated", type=int, metavar="SEED", help="make an export from SEED")
    parser.add_argument("--events", type=int, default=400, help="how many to generate")
    parser.add_argument("--encoder", help="passed on to `recollect init`")
    given = parser.parse_args()
    if given.home and given.home.exists() and any(given.home.iterdir()):
        parser.error(f"{given.home} is not empty; the demo starts with a new home")
    if bool(given.forget) != bool(given.phrase):
        parser.error("--forget and --phrase go together")
    return given


def choose_world(given: argparse.Namespace, scratch: Path) -> World:
    export: Path = given.export
    if given.generated is not None:
        export = generate.write(scratch / "export", given.generated, given.events)
    questions: Path = given.questions or export.with_name("questions.jsonl")
    forget_id, phrase = given.forget, given.phrase
    if forget_id is None:
        meta = json.loads(export.with_name("meta.json").read_text(encoding="utf-8"))
        forget_id, phrase = meta["forget"], meta["phrase"]
    return load(export, questions, forget_id, phrase)


def drive(run: Recollect, world: World, encoder: str | None, scratch: Path) -> None:
    make_home(run, encoder)
    bring_in(run, world)
    refuse_bad_lines(run)
    look(run, at_least=len(world.events) + 1)
    ask(run, world)
    forget(run, world)
    rebuild(run, world, scratch)
    verify(run)


def main() -> int:
    given = options()
    started = time.perf_counter()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace", line_buffering=True)
    command = find_command()
    if command is None:
        print("There is no `recollect` command here; `make demo` installs it.", file=sys.stderr)
        return 1
    scratch = Path(tempfile.mkdtemp(prefix="recollect-demo-"))
    home: Path = given.home.absolute() if given.home else scratch / "home"
    try:
        world = choose_world(given, scratch)
        print(f"export RECOLLECT_HOME={home}")
        drive(Recollect(command, home), world, given.encoder, scratch)
    except (Failed, ValueError, OSError) as failure:
        sys.stdout.flush()
        print(f"\nThe demo failed: {failure}", file=sys.stderr)
        if home.exists() and not (given.home or given.keep):
            print("Run it again with --keep to look at its home.", file=sys.stderr)
        return 1
    finally:
        if not given.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    kept = f"; the home is in {home}" if given.home or given.keep else ""
    print(f"\nAll steps gave what they should, in {time.perf_counter() - started:.1f} s{kept}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
