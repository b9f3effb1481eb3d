"""Generations: complete sets of a zone's files, and the pointer to the active one.

A rebuild writes a new directory and then replaces the pointer CURRENT atomically; files in use are
never replaced. The previous generation is kept for `rollback`.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from recollect.projections.file_permissions import delete_directory, make_directory, opener
from recollect.schemas.errors import CorruptFile, HomeError

_NAME = re.compile(r"g(\d{6})")
_CURRENT = "CURRENT"
_DESCRIPTION = "generation.json"

#: The agents of a home whose file names none: `own` stands for all of recollect's own that need no
#: configuration.
OWN_AGENTS = ("own",)
#: The agents of a new home. Consolidation is named, so that older homes keep what they have.
CONSOLIDATION = "consolidation"
DEFAULT_AGENTS = (*OWN_AGENTS, CONSOLIDATION)


class Generation(msgspec.Struct, frozen=True):
    """The description of a generation: its chain in `changes`, its encoder, and its origin.

    `agents`: names of the agents that decided it. `complete`: False while a rebuild is still
    writing it. `previous`: the generation that was active before it. `consolidation`: whether the
    zone consolidates facts; None: as the home's agents do. `writer_role`: the number of the event
    that set the role of the language model for this generation, which uses only answers that were
    given for it; 0: for none.
    """

    name: str
    chain: str
    encoder: str | None
    dimension: int
    level: str
    complete: bool
    previous: str | None = None
    agents: tuple[str, ...] = OWN_AGENTS
    consolidation: bool | None = None
    writer_role: int = 0


def agents_of_zone(home_agents: tuple[str, ...], consolidation: bool | None) -> tuple[str, ...]:
    """Return the names of a zone's agents; `consolidation`: the setting of its generation."""
    if consolidation in (None, CONSOLIDATION in home_agents):
        return home_agents
    if consolidation:
        return (*home_agents, CONSOLIDATION)
    return tuple(name for name in home_agents if name != CONSOLIDATION)


class ZoneDirectory:
    """The directory of a zone: its generations, and the pointer to the active one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Return whether the zone has an active generation, intact or damaged."""
        try:
            self.current()
        except CorruptFile:
            # Opening the generation will report the damage.
            return True
        except HomeError:
            return False
        return True

    def current(self) -> Generation:
        """Return the active generation.

        Raises:
            HomeError: there is none. CorruptFile: the pointer is missing, or names no generation.
        """
        try:
            with open(f"{self.path}/{_CURRENT}", "rb") as pointer:
                name = pointer.read().strip().decode("ascii", "replace")
        except FileNotFoundError:
            # Generations that were never active do not count: a process is still writing them, or
            # it died.
            if any(self._was_active(path.parent.name) for path in self.path.glob("g*/events.db")):
                raise self._damaged(self.path / _CURRENT, "is missing") from None
            raise HomeError(f"{self.path} has no generation; ingest something first") from None
        return self.describe(name)

    def _was_active(self, name: str) -> bool:
        """Return whether a generation was, or may have been, active."""
        try:
            return self.describe(name).complete
        except CorruptFile:
            return True

    def describe(self, name: str) -> Generation:
        """Return a generation by name."""
        try:
            with open(f"{self.path}/{name}/{_DESCRIPTION}", "rb") as description:
                return msgspec.json.decode(description.read(), type=Generation)
        except (OSError, ValueError, msgspec.DecodeError) as error:
            what = f"cannot be read ({error})"
            raise self._damaged(self.path / name / _DESCRIPTION, what) from None

    def _damaged(self, path: Path, what: str) -> CorruptFile:
        return CorruptFile(f"{path} {what}; run recollect --zone {self.path.name} rebuild")

    def generations(self) -> list[Generation]:
        """Return all generations with a readable description, oldest first."""
        if not self.path.is_dir():
            return []
        found = []
        for entry in sorted(self.path.iterdir()):
            if _NAME.fullmatch(entry.name):
                with suppress(HomeError):
                    found.append(self.describe(entry.name))
        return found

    def create(self, described: Generation) -> Generation:
        """Create the directory of a new generation, which is not active yet; return it, named."""
        make_directory(self.path)
        numbers = [
            int(found[1])
            for entry in self.path.iterdir()
            if (found := _NAME.fullmatch(entry.name)) is not None
        ]
        name = f"g{max(numbers, default=0) + 1:06d}"
        generation = msgspec.structs.replace(described, name=name, complete=False, previous=None)
        make_directory(self.path / generation.name)
        self._write_description(generation)
        return generation

    def directory(self, generation: Generation) -> Path:
        """Return the directory of a generation's files."""
        return self.path / generation.name

    def activate(self, generation: Generation, previous: Generation | None) -> Generation:
        """Mark a generation complete, and make it the active one."""
        generation = msgspec.structs.replace(
            generation, complete=True, previous=previous.name if previous else None
        )
        self._write_description(generation)
        replace_file(self.path / _CURRENT, generation.name.encode() + b"\n")
        return generation

    def remove(self, generation: Generation) -> None:
        """Delete an inactive generation.

        Raises:
            DeletionFailed: not all of it could be deleted.
        """
        # The description is deleted first. Without it, what an interrupted deletion leaves does not
        # count as a generation.
        (self.path / generation.name / _DESCRIPTION).unlink(missing_ok=True)
        delete_directory(self.path / generation.name)

    def clear_leftovers(self) -> None:
        """Delete scratch directories, and generations without a description.

        Raises:
            DeletionFailed: not all of them could be deleted.
        """
        if not self.path.is_dir():
            return
        known = {generation.name for generation in self.generations()}
        for entry in self.path.iterdir():
            orphan = _NAME.fullmatch(entry.name) and entry.name not in known
            if entry.is_dir() and (orphan or entry.name.startswith("scratch")):
                delete_directory(entry)

    def _write_description(self, generation: Generation) -> None:
        replace_file(
            self.path / generation.name / _DESCRIPTION, msgspec.json.encode(generation) + b"\n"
        )


def replace_file(path: Path, content: bytes) -> None:
    """Replace a small file atomically and durably.

    Raises:
        OSError: it cannot be written; the old file is unchanged.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(temporary, "wb", opener=opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Flush the entries of a directory to the disk."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
