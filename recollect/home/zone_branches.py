"""The branches of a home's zones: each is a home of its own, in a directory of this one.

`branches/ZONE/NAME/` holds a ledger with a copy of the zone's records up to where it was forked,
and the files derived from it. Everything that works on a zone works on a branch. The settings are
those of the home; its ledger, wherever it is, is only read.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from recollect.home.home_directory import Home
from recollect.home.home_swap import HOME_FILE
from recollect.home.ledgers import EMBEDDED, open_node
from recollect.home.settings.configuration import Configuration
from recollect.projections.file_permissions import delete_directory, make_directory
from recollect.projections.generations import replace_file
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.schemas.zones import BRANCH_MARK, check_branch
from recollect.streams.engine.node import Node
from recollect.streams.ledger.embedded_ledger import IN_USE_LOCK, EmbeddedKeys, EmbeddedLedger
from recollect.streams.ledger.ledger import Head
from recollect.streams.lifecycle.branch_ledger import copy_records, forget_again
from recollect.streams.records.chain_readers import event_at
from recollect.streams.system.locks import exclusive

DIRECTORY = "branches"
_DESCRIPTION = "branch.json"
_LOCK = "branches.lock"
#: The prefix of a branch that is being made or dropped; no branch's name begins so.
_UNFINISHED = "_"


class BranchDescription(msgspec.Struct, frozen=True):
    """Where a branch was forked: after event `number`, whose hash is in hexadecimal.

    `created_at`: when it was forked (unix ms).
    """

    number: int
    hash: str
    created_at: int


class Branches:
    """The branches of a home's zones, as directories."""

    def __init__(self, home: Home, node: Node) -> None:
        self._home = home
        self._node = node

    def names(self, zone: str) -> list[str]:
        """Return the names of a zone's branches, sorted."""
        directory = self._directory(zone)
        if not directory.is_dir():
            return []
        return sorted(
            path.name
            for path in directory.iterdir()
            if path.name[0] != _UNFINISHED and (path / _DESCRIPTION).is_file()
        )

    def describe(self, zone: str, name: str) -> BranchDescription:
        """Return where a branch was forked.

        Raises:
            InvalidInput: there is no such branch.
            HomeError: its description cannot be read.
        """
        known = self.names(zone)
        if name not in known:
            raise InvalidInput(
                f"zone {zone} has no branch {name!r} (branches: {', '.join(known) or 'none'}); "
                "to create one, run recollect branch create"
            )
        path = self._directory(zone) / name / _DESCRIPTION
        try:
            return msgspec.json.decode(path.read_bytes(), type=BranchDescription)
        except (OSError, msgspec.DecodeError) as error:
            raise HomeError(f"{path} cannot be read ({error}); drop the branch") from None

    def create(self, zone: str, name: str, fork: Head, created_at: int) -> None:
        """Fork a zone after an event.

        Raises:
            InvalidInput: the branch exists, or its name is invalid.
        """
        check_branch(name)
        ledger, directory = self._node.ledger, self._directory(zone)
        description = BranchDescription(fork.number, fork.hash.hex(), created_at)
        unfinished = directory / f"{_UNFINISHED}{name}"
        with exclusive(directory / _LOCK):
            if (directory / name).exists():
                raise InvalidInput(
                    f"zone {zone} already has a branch {name!r}; drop it first, or choose another "
                    "name"
                )
            delete_directory(unfinished)
            make_directory(unfinished)
            settings = msgspec.structs.replace(self._home.settings, promoted_to=None)
            replace_file(unfinished / HOME_FILE, msgspec.json.encode(settings) + b"\n")
            current = self._node.current(zone)
            copied = EmbeddedLedger(unfinished, partial(EmbeddedKeys, secret=ledger.keys.secret))
            with closing(copied):
                copied.create()
                copy_records(ledger, zone, current.chain, fork.number, copied)
                forget_again(ledger, zone, copied, fork.number)
            with closing(open_node(self.home(unfinished), EMBEDDED)) as node:
                described = msgspec.structs.replace(current, level="first")
                generation = node.zone(zone).create(described)
                with node.open(zone, generation):
                    pass
                node.zone(zone).activate(generation, None)
                node.decide(zone)
            replace_file(unfinished / _DESCRIPTION, msgspec.json.encode(description) + b"\n")
            unfinished.rename(directory / name)

    def home(self, directory: Path) -> Home:
        """Return the home in a branch's directory, with the settings of this one."""
        return Home(directory, Configuration(directory, file=self._home.configuration.file))

    def directory(self, zone: str, name: str) -> Path:
        """Return the directory of a branch, if it was forked from this home's ledger.

        Raises:
            InvalidInput: there is no such branch.
            HomeError: the zone's ledger was replaced since by another one.
        """
        description = self.describe(zone, name)
        fork = event_at(self._node.ledger, zone, description.number)
        if fork is None or fork.hash.hex() != description.hash:
            raise HomeError(
                f"branch {zone}{BRANCH_MARK}{name} was forked from another ledger: event "
                f"{description.number} of zone {zone} does not match its fork point; "
                "drop the branch"
            )
        return self._directory(zone) / name

    def forget_again(self, zone: str, name: str, branch: Node) -> None:
        """Erase in an open branch what its zone has forgotten since the fork."""
        number = self.describe(zone, name).number
        if forget_again(self._node.ledger, zone, branch.ledger, number):
            branch.decide(zone)

    def drop(self, zone: str, name: str) -> None:
        """Delete a branch and everything in it.

        Raises:
            InvalidInput: there is no such branch.
            Busy: another process has it open.
        """
        directory = self._directory(zone)
        self.describe(zone, name)
        with exclusive(directory / _LOCK):
            unfinished = directory / f"{_UNFINISHED}{name}"
            delete_directory(unfinished)
            with exclusive(directory / name / IN_USE_LOCK, wait=False):
                (directory / name).rename(unfinished)
            delete_directory(unfinished)

    def _directory(self, zone: str) -> Path:
        return self._home.directory / DIRECTORY / zone
