"""What remains of forgotten facts: through every operation, and in the files.

python -m bench.ledger.remaining [--others PYTHON]

As in TOFU (arXiv:2401.06121): facts about invented people are stored; those of some persons, the
forget set, are then erased; the others are the retain set. What a system returns is compared with
each fact by ROUGE-L recall (Lin 2004): the words of the fact that occur in the same order in one
returned text. A system that never had the forget set gives the value that erasing should reach.

`PYTHON`: a Python that has mem0ai and langgraph-checkpoint-sqlite, which erase by their own calls.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.kit.report import Report, Target, markdown
from recollect import MemoryInput, Recollect, RecollectError, Zone, paginate
from recollect.projections.embeddings.vector_queries import vector_count

PERSONS, FORGOTTEN = 20, 4
_CHILD = Path(__file__).with_name("other_stores.py")
_WORDS = re.compile(r"\w+")
_SYLLABLES = ("ba", "dru", "fe", "gol", "hix", "jem", "kor", "lu", "mav", "nes", "pru", "quil")
_FRAMES = (
    ("{0} lives in {1}.", "Where does {0} live?"),
    ("{0} works as a keeper of {1}.", "What does {0} work as?"),
    ("{0} wrote the novel {1}.", "What did {0} write?"),
    ("{0} is allergic to {1}.", "What is {0} allergic to?"),
    ("The mother of {0} is {1}.", "Who is the mother of {0}?"),
)


class Fact(NamedTuple):
    """A fact about an invented person, with a question, and a word that is in no other fact."""

    person: str
    text: str
    question: str
    word: str


class Remains(msgspec.Struct):
    """The texts that a system returns for each fact, by fact, and the directory of its files.

    `vectors`: the number of its vectors; `history`: rows in which it keeps earlier texts.
    """

    texts: list[list[str]]
    directory: str
    vectors: int
    history: int = 0


def made_facts(seed: int = 1) -> list[Fact]:
    """Return five facts about each person."""
    draw = random.Random(seed)
    used: set[str] = set()

    def name() -> str:
        while (word := "".join(draw.choices(_SYLLABLES, k=4)).capitalize()) in used:
            pass
        used.add(word)
        return word

    facts = []
    for _ in range(PERSONS):
        person = f"{name()} {name()}"
        for statement, question in _FRAMES:
            word = name()
            facts.append(
                Fact(person, statement.format(person, word), question.format(person), word)
            )
    return facts


def rouge_l(fact: str, text: str) -> float:
    """Return the share of a fact's words in its longest common subsequence with a text."""
    wanted, given = ([word.lower() for word in _WORDS.findall(side)] for side in (fact, text))
    lengths = [0] * (len(given) + 1)
    for word in wanted:
        before = 0
        for place, other in enumerate(given, 1):
            above = lengths[place]
            lengths[place] = before + 1 if word == other else max(above, lengths[place - 1])
            before = above
    return lengths[-1] / len(wanted)


def run(others: str | None = None) -> Report:
    """Measure recollect and, if a Python has them, two other systems."""
    facts = made_facts()
    persons = list(dict.fromkeys(fact.person for fact in facts))
    erased = set(persons[:FORGOTTEN])
    rows: list[list[str]] = []
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as place:
        for name, measure in _systems(others):
            stages = {}
            for stage, known, gone in (
                ("stored", facts, set()),
                ("erased", facts, erased),
                ("never stored", [fact for fact in facts if fact.person not in erased], set()),
            ):
                directory = Path(place) / name.split()[0] / stage.replace(" ", "-")
                directory.mkdir(parents=True)
                stages[stage] = measure(known, gone, facts, directory)
                rows.append([name, stage, *_cells(stages[stage], facts, erased)])
            if name == "recollect":
                after, never = (
                    _scores(stages[stage], facts, erased) for stage in ("erased", "never stored")
                )
                words = _words_in_files(stages["erased"], facts, erased)
                targets = [
                    Target(
                        "after erasing, the forget set is as if it had never been stored",
                        f"ROUGE-L {after[0]:.2f}, and {never[0]:.2f}",
                        after[0] <= never[0] + 0.005,
                    ),
                    Target("words of erased facts in files", str(words), words == 0),
                ]
    return Report(
        title="What remains of forgotten facts",
        about=f"{len(facts)} facts about {PERSONS} invented people are stored; the facts about "
        f"{FORGOTTEN} of them, the forget set, are erased by each system's own call. ROUGE-L "
        "recall is that of the best text that any operation returns for a fact: for recollect its "
        "searches, lists, exports, histories and reports; for mem0ai its search, list and "
        "history; for langgraph its list. Both store texts as they are, without a language model; "
        "mem0ai has vectors of hashed words. Each fact contains a word that no other has. Words in "
        "files: the erased facts whose word still occurs as bytes in a file, free pages and "
        "write-ahead logs included, after the system was closed.",
        columns=(
            *("system", "", "ROUGE-L, forget set", "ROUGE-L, retain set"),
            *("words in files", "rows of history that contain them", "vectors"),
        ),
        rows=rows,
        targets=targets,
        skipped="" if others else "other systems; name a Python that has them with --others.",
    )


_Measure = Callable[[Sequence[Fact], set[str], Sequence[Fact], Path], Remains]


def _systems(others: str | None) -> Iterator[tuple[str, _Measure]]:
    yield "recollect", _recollect
    if others is not None:
        yield "mem0ai (Qdrant, SQLite)", _other(others, "mem0")
        yield "langgraph SqliteStore", _other(others, "langgraph")


def _other(python: str, system: str) -> _Measure:
    def measure(
        known: Sequence[Fact], erased: set[str], asked: Sequence[Fact], directory: Path
    ) -> Remains:
        given = {
            "system": system,
            "directory": str(directory),
            "facts": [[fact.person, fact.text] for fact in known],
            "erased": sorted(erased),
            "questions": [fact.question for fact in asked],
        }
        done = subprocess.run(
            [python, str(_CHILD)],
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Remains)

    return measure


def _recollect(
    known: Sequence[Fact], erased: set[str], asked: Sequence[Fact], directory: Path
) -> Remains:
    with Recollect(directory / "home") as opened:
        zone = opened.zone("bench")
        zone.store_memories([MemoryInput(content=fact.text) for fact in known])
        stored = list(paginate(zone.query_memories))
        for person in sorted(erased):
            zone.forget(*(memory.memory_id for memory in stored if person in memory.content))
        everything = _listed(zone)
        texts = [[*everything, *_found(zone, fact)] for fact in asked]
        with zone._zone.files() as files:
            vectors = vector_count(files.embeddings.connection)
    return Remains(texts=texts, directory=str(directory), vectors=vectors)


def _listed(zone: Zone) -> list[str]:
    """Return the texts of all lists and exports."""
    texts = [line.decode() for line in zone.export_lines()]
    lists: tuple[Callable[..., Any], ...] = (
        *(zone.facts, zone.query_memories, zone.entities, zone.timeline, zone.observations),
        *(zone.episodes, zone.mental_models, zone.facets),
    )
    for items in lists:
        texts += [msgspec.json.encode(entry).decode() for entry in paginate(items)]
    for memory in paginate(zone.query_memories, state="any", superseded=True):
        texts.append(memory.content)
        texts += [version.content for version in zone.memory_versions(memory.memory_id)]
    return texts


def _found(zone: Zone, fact: Fact) -> list[str]:
    """Return the texts of the operations that take a question, a name or an id."""
    texts = [result.text for result in zone.recall(fact.question, max_results=20).results]
    texts += zone.context(fact.question).block.splitlines()
    texts += zone.reflect(fact.question).text.splitlines()
    for call in (zone.get_entity, zone.related):
        try:
            texts.append(msgspec.json.encode(call(fact.person)).decode())
        except RecollectError:
            continue
    return texts


def _scores(remains: Remains, facts: Sequence[Fact], erased: set[str]) -> tuple[float, float]:
    """Return the mean ROUGE-L of the forget set and of the retain set."""
    best = [
        max((rouge_l(fact.text, text) for text in texts), default=0.0)
        for fact, texts in zip(facts, remains.texts, strict=True)
    ]
    sets: tuple[list[float], list[float]] = ([], [])
    for fact, score in zip(facts, best, strict=True):
        sets[fact.person not in erased].append(score)
    return sum(sets[0]) / len(sets[0]), sum(sets[1]) / len(sets[1])


def _words_in_files(remains: Remains, facts: Sequence[Fact], erased: set[str]) -> int:
    words = {fact.word.encode().lower() for fact in facts if fact.person in erased}
    found: set[bytes] = set()
    for path in Path(remains.directory).rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            found |= {word for word in words if word in content}
    return len(found)


def _cells(remains: Remains, facts: Sequence[Fact], erased: set[str]) -> list[str]:
    forget, retain = _scores(remains, facts, erased)
    words = _words_in_files(remains, facts, erased)
    all_words = sum(fact.person in erased for fact in facts)
    return [
        *(f"{forget:.2f}", f"{retain:.2f}", f"{words} of {all_words}"),
        *(str(remains.history), str(remains.vectors)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger.remaining", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--others", help="a Python that has mem0ai and langgraph's SqliteStore")
    print(markdown(run(parser.parse_args(arguments).others)))


if __name__ == "__main__":
    main()
