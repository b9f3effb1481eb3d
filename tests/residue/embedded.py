"""The scan over a home of its own ledger, before and after all that could bring something back."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from projections.recall import Query, index
from recollect.client import Memory, Token
from recollect.home import Home
from schemas.inbound import InboundEvent, draft_of
from tests.recall.kit import EncodedHome
from tests.residue.collecting import keys_of, traces_of
from tests.residue.needles import Place, Search, Trace
from tests.residue.world import World

Say = Callable[[str], None]

_AT_ONCE = 500
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
    *("entity id", "key", "vector, float32", "token vector, int8", "text hash"),
)
#: Those that recall's stored index holds, of zones that have one.
EVERY_STORED = ("vector, int8", "vector, bits", "word, digest")


def run(room: Path, world: World, say: Say) -> Residue:
    """Fill a home, forget, and look after each step."""
    residue = Residue()
    home = room / "home"
    Home.make(home, without_encoder=True)
    # A zone of any size has a stored index here.
    index.LEAST_STORED = min(index.LEAST_STORED, len(world.lines) // 2)
    if status := _apart(_fill, home, world, room / "token"):
        raise AssertionError(f"a home cannot be filled: {status}")
    token = (room / "token").read_text()
    traces = traces_of(home, world.gone, keys_of(home))
    search = Search(traces)
    residue.begin(traces, list(search.files(home)))
    for kind in EVERY_STORED:
        if not residue.there[kind]:
            residue.wrong.append(f"recall's stored index holds no trace ({kind}) before")
    say(f"{len(world.lines)} events, {len(traces)} traces of what is to be forgotten")
    steps: list[tuple[str, Callable[[Memory], object]]] = [
        ("forgotten", lambda memory: _forget(memory, world)),
        ("asked again", lambda memory: _ask_again(memory, world, token)),
        ("rebuilt from the rows", lambda memory: memory.rebuild("index")),
        ("rebuilt from the changes", lambda memory: memory.rebuild("project")),
        ("asked again after that", lambda memory: _ask_again(memory, world, token)),
        ("derived again", lambda memory: memory.rebuild("derive")),
        ("rolled back", lambda memory: memory.rollback()),
        ("asked once more", lambda memory: _ask_again(memory, world, token)),
        ("imported again", lambda memory: _import(memory, world)),
        ("verified", _verify),
    ]
    for name, step in steps:
        # Each in a process that is killed as soon as it has done: nothing is tidied at its end.
        status = _apart(_step, home, step)
        if status:
            residue.wrong.append(f"{name}: ended with {status}")
        found = residue.look(name, search, home)
        say(f"{name:26} {found} traces left")
    return residue


def _apart(work: Callable[..., None], *arguments: object) -> str | None:
    """Do something in a process that dies of it; return what went wrong."""
    process = multiprocessing.get_context("fork").Process(target=_die, args=(work, arguments))
    process.start()
    process.join()
    return None if process.exitcode == -signal.SIGKILL else f"status {process.exitcode}"


def _die(work: Callable[..., None], arguments: tuple[object, ...]) -> None:
    work(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)


def _step(home: Path, step: Callable[[Memory], object]) -> None:
    step(Memory(EncodedHome(home)))


def _fill(home: Path, world: World, said: Path) -> None:
    memory = Memory(EncodedHome(home))
    _import(memory, world)
    token = memory.token()
    _ask(memory, world, token)
    # What is forgotten is in the generation before, and in a moment of the past.
    memory.rebuild("project")
    _ask(memory, world, token)
    said.write_text(token)


def _import(memory: Memory, world: World) -> None:
    drafts = [draft_of(InboundEvent(**line)) for line in world.lines]
    for start in range(0, len(drafts), _AT_ONCE):
        memory.publish(drafts[start : start + _AT_ONCE])
        memory.drive()


def _forget(memory: Memory, world: World) -> None:
    for gone in world.gone:
        memory.forget(*gone.ids)


def _ask(memory: Memory, world: World, token: str) -> set[str]:
    """Ask for what is forgotten, now and as of then; return the sources' ids that are cited."""
    return {
        cited
        for gone in world.gone[:_ASKED]
        for known_at in (None, Token.read(token))
        for result in memory.recall(
            Query(text=f"What of the {gone.words['word'][0]}?"), known_at=known_at
        ).results
        for cited in result.source_event_ids
    }


def _ask_again(memory: Memory, world: World, token: str) -> None:
    """Ask, which makes recall's index and a moment of the past again; no answer cites it."""
    cited = _ask(memory, world, token) & {id_ for gone in world.gone for id_ in gone.ids}
    if cited:
        raise AssertionError(f"what was forgotten is recalled: {sorted(cited)}")


def _verify(memory: Memory) -> None:
    found = memory.verify()
    if not found.ok:
        raise AssertionError(found.problems)
