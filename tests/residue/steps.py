"""What both scans share: what one came to, and steps that could bring something back."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recollect import Query
from recollect.home.consistency_token import LedgerPosition
from recollect.projections.recall.index import zone_index
from tests.memory import Memory
from tests.recall.kit import EncodedHome
from tests.residue.needles import Place, Search, Trace
from tests.residue.world import World

Say = Callable[[str], None]

# Questions in a step: enough to have everything made that answers make.
_ASKED = 10


@dataclass
class Residue:
    """What the scan came to.

    `looked_for`: traces by kind; `there`: how many of them stood in a file before they were
    forgotten; `left`: (after which step, where). `wrong`: what else was not as it must be.
    """

    looked_for: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    left: list[tuple[str, Place]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    bytes_read: int = 0

    @property
    def clean(self) -> bool:
        return not self.left and not self.wrong

    def begin(self, traces: Sequence[Trace], places: Sequence[Place]) -> None:
        """Note what is looked for, and that the search finds it where it still is."""
        self.looked_for.update(trace.kind for trace in traces)
        found = {place.trace for place in places}
        self.there.update(trace.kind for trace in found)
        for kind in EVERY:
            if self.there[kind] != self.looked_for[kind] or not self.there[kind]:
                self.wrong.append(
                    f"of {self.looked_for[kind]} traces ({kind}) the search finds "
                    f"{self.there[kind]} before anything is forgotten"
                )

    def look(self, step: str, search: Search, *directories: Path) -> int:
        """Look for everything; return how much was found."""
        found = list(search.files(*directories))
        self.left += [(step, place) for place in found]
        self.bytes_read += sum(
            path.stat().st_size
            for directory in directories
            for path in directory.rglob("*")
            if path.is_file()
        )
        return len(found)


#: Kinds of which every trace stands in some file until it is forgotten.
EVERY = (
    *("word", "name", "handle", "source id", "thread", "turn", "metadata", "event id", "fact id"),
    *("entity id", "key", "vector, int8", "token vector", "text hash"),
)
#: Those that recall's stored index holds, of zones that have one.
EVERY_STORED = ("vector, bits", "word, digest")


def store_indexes(events: int) -> None:
    """Have a zone of so many events keep a stored index, in this process and those it forks."""
    zone_index.MIN_STORED_TURNS = min(zone_index.MIN_STORED_TURNS, events // 2)


def apart(work: Callable[..., None], *arguments: object) -> str | None:
    """Do something in a process that dies of it; return what went wrong."""
    process = multiprocessing.get_context("fork").Process(target=_die, args=(work, arguments))
    process.start()
    process.join()
    return None if process.exitcode == -signal.SIGKILL else f"status {process.exitcode}"


def _die(work: Callable[..., None], arguments: tuple[object, ...]) -> None:
    work(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)


def with_memory(home: Path, work: Callable[[Memory], object]) -> None:
    """Do something with the memory of a home; nothing is closed."""
    work(Memory(EncodedHome(home)))


def forget(memory: Memory, world: World) -> None:
    """Forget what is to be forgotten, one after the other."""
    for gone in world.gone:
        memory.forget(*gone.ids)


def ask(memory: Memory, world: World, token: str) -> set[str]:
    """Ask for what is forgotten, now and as of then; return the sources' ids that are cited."""
    return {
        cited
        for gone in world.gone[:_ASKED]
        for known_at in (None, LedgerPosition.parse(token))
        for result in memory.recall(
            Query(f"What of the {gone.words['word'][0]}?"), known_at=known_at
        ).results
        for cited in result.source_event_ids
    }


def ask_again(memory: Memory, world: World, token: str) -> None:
    """Ask, which makes recall's index and a moment of the past again; no answer cites it."""
    cited = ask(memory, world, token) & {id_ for gone in world.gone for id_ in gone.ids}
    if cited:
        raise AssertionError(f"what was forgotten is recalled: {sorted(cited)}")


def verify(memory: Memory) -> None:
    """Verify the zone; raise AssertionError with what is wrong."""
    found = memory.verify()
    if not found.ok:
        raise AssertionError(found.problems)
