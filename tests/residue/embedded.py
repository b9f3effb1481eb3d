"""The scan over a home of its own ledger, before and after all that could bring something back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from recollect.home.home_directory import Home
from recollect.schemas.inbound import InboundEvent, draft_of
from tests.memory import Memory
from tests.recall.kit import EncodedHome
from tests.residue.collecting import keys_of, traces_of
from tests.residue.needles import Search
from tests.residue.steps import (
    EVERY_STORED,
    Residue,
    Say,
    apart,
    ask,
    ask_again,
    forget,
    store_indexes,
    verify,
    with_memory,
)
from tests.residue.world import World

_BATCH_SIZE = 500


def run(room: Path, world: World, say: Say) -> Residue:
    """Fill a home, forget, and look after each step."""
    residue = Residue()
    home = room / "home"
    Home.create_or_open(home, without_encoder=True)
    store_indexes(len(world.lines))
    if status := apart(_fill, home, world, room / "token"):
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
        ("forgotten", lambda memory: forget(memory, world)),
        ("asked again", lambda memory: ask_again(memory, world, token)),
        ("rebuilt from the rows", lambda memory: memory.rebuild("index")),
        ("rebuilt from the changes", lambda memory: memory.rebuild("project")),
        ("asked again after that", lambda memory: ask_again(memory, world, token)),
        ("derived again", lambda memory: memory.rebuild("derive")),
        ("rolled back", lambda memory: memory.rollback()),
        ("asked once more", lambda memory: ask_again(memory, world, token)),
        ("imported again", lambda memory: _import(memory, world)),
        ("verified", verify),
    ]
    for name, step in steps:
        # Each in a process that is killed as soon as it has done: nothing is tidied at its end.
        status = apart(with_memory, home, step)
        if status:
            residue.wrong.append(f"{name}: ended with {status}")
        found = residue.look(name, search, home)
        say(f"{name:26} {found} traces left")
    return residue


def _fill(home: Path, world: World, said: Path) -> None:
    memory = Memory(EncodedHome(home))
    _import(memory, world)
    token = memory.consistency_token()
    ask(memory, world, token)
    # What is forgotten is in the generation before, and in a moment of the past.
    memory.rebuild("project")
    ask(memory, world, token)
    said.write_text(token)


def _import(memory: Memory, world: World) -> None:
    drafts = [draft_of(InboundEvent(**line)) for line in world.lines]
    for start in range(0, len(drafts), _BATCH_SIZE):
        memory.publish(drafts[start : start + _BATCH_SIZE])
        memory.drive()
