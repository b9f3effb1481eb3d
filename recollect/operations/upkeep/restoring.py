"""Restoring a home from a backup: what was forgotten since does not come back.

All is done beside the home that is there, which counts until the restored one is whole:

1. copy the backup's files, each as its manifest describes it, and check chains, seals and keys;
2. find out what was erased since, from the home that is there and from other places that are named;
3. erase that again, by a command at the end of each zone's ledger, and decide it;
4. throw away the files in which it was decided, make them again from the ledger, and verify them;
5. put all of it in the home's place (`recollect/home/home_swap.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.home.access_tokens import (
    AccessTokens,
    StoredToken,
    TokenSnapshot,
    not_revoked,
    read_tokens,
    write_tokens,
)
from recollect.home.configuration import CONFIG_FILE, Configuration
from recollect.home.home_directory import Home
from recollect.home.home_swap import HOME_FILE, STAGING_DIRECTORY, HomeSwap
from recollect.home.ledgers import EMBEDDED, open_node
from recollect.home.open_zone import unix_ms
from recollect.operations.erasure.erasure_targets import Chooser
from recollect.operations.upkeep.backing_up import ON_KAFKA
from recollect.projections.file_permissions import (
    delete_directory,
    make_directory,
    require_writable,
)
from recollect.projections.generations import replace_file
from recollect.schemas.errors import (
    Busy,
    CorruptFile,
    ErasureFailed,
    HomeError,
    InvalidInput,
    NewerFormat,
)
from recollect.schemas.text_sanitising import pluralise
from recollect.schemas.times import format_time
from recollect.schemas.wire import RestoreReport
from recollect.streams.encoder.encoder_errors import EncoderError
from recollect.streams.engine.node import Node
from recollect.streams.ledger import EVENTS, PARTITIONS
from recollect.streams.ledger.embedded_ledger import (
    IDENTITY_FILE,
    IN_USE_LOCK,
    KEYS_FILE,
    LEDGER_FILE,
    check_layout,
    write_identity,
)
from recollect.streams.ledger.kafka.settings import SCHEME
from recollect.streams.lifecycle.backup_files import (
    MANIFEST,
    TOKENS_FILE,
    Backup,
    Manifest,
    check_pages,
)
from recollect.streams.lifecycle.post_backup_erasures import (
    PostBackupState,
    SalvageLedger,
    erase_again,
    has_pending_erasure,
)
from recollect.streams.lifecycle.verifying import LedgerCheck, verify
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.records.heads import head_text
from recollect.streams.records.lookup import records_at
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive

_REPORT = "report.json"
_MAX_SHOWN = 3

T = TypeVar("T")


class _Ended(msgspec.Struct, frozen=True):
    """What is kept of a restore until its home is in its place: of which backup it is."""

    digest: str
    report: RestoreReport


def restore(
    configuration: Configuration,
    backup: Path,
    *,
    erasures_from: Sequence[Path] = (),
    lose_newer: bool = False,
    forgotten_may_return: bool = False,
    progress: OnProgress | None = None,
) -> RestoreReport:
    """Put the home of a backup where the settings say, without what was forgotten since.

    What was forgotten since is known by the home that is there, and by `erasures_from`, later
    backups or homes. `lose_newer`: events that came after the backup may be lost.
    `forgotten_may_return`: go on where it cannot be read what was forgotten.

    Where the process dies, the old home or the restored one is there; restoring again ends it.

    Raises:
        InvalidInput: newer events would be lost, or erasures cannot be read; or the ledger is on
            Kafka.
        HomeError: there is no backup, or something else than this home in its place.
        CorruptFile: the backup is not whole.
        Busy: a process has the home open.
    """
    if configuration.resolve("ledger").value.startswith(SCHEME):
        raise InvalidInput(f"restore: {ON_KAFKA}")
    directory = configuration.home.resolve()
    given = Backup(backup.expanduser())
    places = [place.expanduser().resolve() for place in erasures_from]
    for place in (given.directory, *places):
        if place.is_relative_to(directory) or directory.is_relative_to(place):
            raise InvalidInput(
                f"{place} and the home {directory} are not apart, and a restore replaces what is "
                "in the home: move one of them"
            )
    with _alone(directory):
        swap = HomeSwap(directory)
        if swap.interrupted:
            ended = _finish(swap)
            if ended is not None and ended.digest == given.digest:
                return msgspec.structs.replace(ended.report, resumed=True)
        return _Restore(
            configuration,
            directory,
            given,
            places,
            swap,
            lose_newer=lose_newer,
            forgotten_may_return=forgotten_may_return,
            progress=progress,
        ).run()


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Let nobody open the home meanwhile; where it is new and nothing comes of it, it goes."""
    require_writable(directory)
    new = not directory.exists()
    make_directory(directory)
    try:
        with exclusive(directory / IN_USE_LOCK, wait=False):
            yield
    except Busy:
        raise Busy(
            f"a process has the home {directory} open, as a service, a worker or a command, or "
            "another restore: stop it, then restore again"
        ) from None
    finally:
        if new and not Home.exists_at(directory):
            with suppress(OSError):
                for lock in directory.glob("*.lock"):
                    lock.unlink()
                directory.rmdir()


def _finish(swap: HomeSwap) -> _Ended | None:
    """Bring a restore that was interrupted to its end; return what it had to say."""
    ended = None
    with suppress(FileNotFoundError, msgspec.DecodeError):
        ended = msgspec.json.decode((swap.staging / _REPORT).read_bytes(), type=_Ended)
    swap.finish()
    return ended


class _Place:
    """Where it is known what was forgotten since: the home that is there, or a place that is named.

    `room`: where a backup is copied to, whose own files are only ever read.
    """

    def __init__(self, directory: Path, manifest: Manifest, room: Path | None) -> None:
        self.directory = directory
        self.at = unix_ms()
        files = directory
        if room is not None and (directory / MANIFEST).exists():
            backup = Backup(directory)
            make_directory(room)
            backup.copy(room)
            files, self.at = room, backup.manifest.made_at
        self.ledger = SalvageLedger(files)
        self._tokens = files / TOKENS_FILE
        self.homes = self.ledger.home_ids()
        self.is_same = manifest.home in self.homes

    def tokens(self) -> TokenSnapshot:
        """Return the tokens that it knows."""
        return _read_tokens(self._tokens, self.at)


class _Restore:
    """One restore, from the copy of the backup to the swap."""

    def __init__(
        self,
        configuration: Configuration,
        directory: Path,
        backup: Backup,
        named: Sequence[Path],
        swap: HomeSwap,
        *,
        lose_newer: bool,
        forgotten_may_return: bool,
        progress: OnProgress | None,
    ) -> None:
        self._configuration = configuration
        self._directory = directory
        self._backup = backup
        self._manifest = backup.manifest
        self._named = named
        self._swap = swap
        self._new = swap.new
        self._lose_newer = lose_newer
        self._forgotten_may_return = forgotten_may_return
        self._progress = progress
        self._tokens: list[StoredToken] = []

    def run(self) -> RestoreReport:
        """Make the restored home, and put it in its place."""
        began = time.monotonic()
        with ExitStack() as read, ExitStack() as held:
            there = self._home_that_is_there(read)
            self._swap.begin()
            try:
                self._stage()
                named = [self._place(number, read) for number in range(len(self._named))]
                report = self._make(there, named)
                # SQLite must not have files open that change their place.
                read.close()
                # Nobody revokes a token between this look and the swap.
                held.enter_context(AccessTokens(self._directory).locked())
                kept, dropped = self._keep_tokens(there, named)
                report = msgspec.structs.replace(
                    report,
                    erasures_from=[str(place.directory) for place in (there, *named) if place],
                    tokens=kept,
                    tokens_revoked=dropped,
                    seconds=round(time.monotonic() - began, 3),
                )
                ended = msgspec.json.encode(_Ended(self._backup.digest, report))
                replace_file(self._swap.staging / _REPORT, ended)
                self._swap.swap()
            except BaseException:
                if not self._swap.interrupted:
                    self._swap.discard()
                raise
        return report

    def _home_that_is_there(self, held: ExitStack) -> _Place | None:
        """Return the home that is replaced; None where none is, or one without any event.

        Raises:
            HomeError: something else is there.
        """
        own = (HOME_FILE, IDENTITY_FILE, LEDGER_FILE, KEYS_FILE, "zones", "copy")
        if (self._directory / "copy").exists() or self._is_moved():
            raise HomeError(
                f"the home {self._directory} follows a ledger on Kafka: restore to another "
                "directory, with --home"
            )
        names = {path.name for path in self._directory.iterdir()} - {STAGING_DIRECTORY, CONFIG_FILE}
        names = {name for name in names if not name.endswith(".lock")}
        if not names & set(own):
            if names:
                raise HomeError(
                    f"{self._directory} exists and is no recollect home; name an empty directory"
                )
            return None
        if not names & {*own} - {HOME_FILE}:
            return None
        place = _Place(self._directory, self._manifest, None)
        held.callback(place.ledger.close)
        if place.homes and not place.is_same:
            if not place.ledger.is_empty():
                raise HomeError(
                    f"{self._directory} is another home than the one that was backed up: give the "
                    "directory of that one with --home, or an empty one"
                )
            return None
        return place

    def _is_moved(self) -> bool:
        """Return whether the ledger of the home that is there was moved to Kafka."""
        with suppress(HomeError, NewerFormat):
            settings = Home(self._directory, self._configuration).settings
            return settings.promoted_to is not None
        return False

    def _stage(self) -> None:
        """Copy the backup, and see that it is one."""
        self._backup.copy(self._new)
        try:
            self._tokens = read_tokens(self._new / TOKENS_FILE)
        except HomeError as error:
            raise CorruptFile(f"the backup is damaged: {error}") from None
        (self._new / TOKENS_FILE).unlink(missing_ok=True)
        write_identity(self._new, self._manifest.home)
        for name in (LEDGER_FILE, KEYS_FILE):
            check_pages(self._new / name)
        check_layout(self._new)
        replace_file(self._new / HOME_FILE, bytes(self._manifest.settings))
        if Home(self._new, self._configuration).settings.promoted_to is not None:
            raise CorruptFile("the backup is of a home whose ledger was moved; use another backup")

    def _place(self, number: int, held: ExitStack) -> _Place:
        directory = self._named[number]
        if not directory.is_dir():
            raise InvalidInput(f"--erasures-from {directory}: there is no such directory")
        place = _Place(directory, self._manifest, self._swap.staging / f"later-{number}")
        held.callback(place.ledger.close)
        if not place.is_same:
            raise InvalidInput(
                f"--erasures-from {directory} belongs to another home, or to none: name a later "
                "backup of this home, or the home"
            )
        return place

    def _make(self, there: _Place | None, named: Sequence[_Place]) -> RestoreReport:
        """Make the restored home, but for its tokens."""
        places = [place for place in (there, *named) if place is not None]
        with closing(open_node(Home(self._new, self._configuration), EMBEDDED)) as node:
            self._check(node)
            failpoint("restore.staged")
            zones = {*self._manifest.heads}.union(*(place.ledger.zones() for place in places))
            found = {
                zone: [place.ledger.state_since(zone, node.ledger) for place in places]
                for zone in sorted(zones)
            }
            lost: int | None = 0
            if there is not None:
                lost = self._newer({zone: each[0] for zone, each in found.items()})
            for at, place in enumerate(places):
                unread = [zone for zone, each in found.items() if not each[at].complete]
                self._must_be_complete(place, unread)
            forgotten = sum(self._erase(node, zone, each) for zone, each in found.items())
        # In the files in which that was decided stood what was forgotten.
        delete_directory(self._new / "zones")
        for left in self._new.glob("driver.db*"):
            left.unlink()
        failpoint("restore.erased")
        with closing(open_node(Home(self._new, self._configuration), EMBEDDED)) as node:
            ledger = node.ledger
            for zone in ledger.zones():
                node.project_turns(zone)
                verified = verify(node, zone, self._progress)
                if not verified.ok:
                    raise CorruptFile(_problems(zone, verified.problems))
            heads = {zone: head_text(ledger.head(zone)) for zone in ledger.zones()}
            events = sum(ledger.end(EVENTS, partition) for partition in range(PARTITIONS))
        return RestoreReport(
            home=str(self._directory),
            backup=str(self._backup.directory),
            made_at=format_time(self._manifest.made_at),
            zones=len(heads),
            events=events,
            erasures_known=all(
                any(since.is_newer for since in found[zone]) for zone in self._manifest.heads
            )
            and bool(places),
            erasures_from=[],
            forgotten=forgotten,
            events_lost=lost,
            tokens=0,
            tokens_revoked=0,
            heads=heads,
            seconds=0.0,
        )

    def _check(self, node: Node) -> None:
        """See that the ledger is the one of the manifest, and that nothing of it was changed."""
        ledger = node.ledger
        heads = {zone: head_text(ledger.head(zone)) for zone in ledger.zones()}
        if heads != self._manifest.heads:
            raise CorruptFile(
                f"{self._backup.directory}: the ledger does not end where the manifest says; use "
                "another backup"
            )
        for zone in heads:
            check = LedgerCheck(ledger, zone, node.chain_in_use(zone), decided=0)
            check.run(self._progress)
            if check.problems:
                raise CorruptFile(_problems(zone, check.problems))

    def _newer(self, known: dict[str, PostBackupState]) -> int | None:
        """Return how many events the home that is there loses.

        Raises:
            InvalidInput: it would lose some, and nobody said that it may.
        """
        counts = {
            zone: since.newer_events for zone, since in known.items() if since.newer_events != 0
        }
        lost = None if None in counts.values() else sum(filter(None, counts.values()))
        if not counts or self._lose_newer:
            return lost
        made_at = format_time(self._manifest.made_at)
        if lost is None:
            raise InvalidInput(
                f"the ledger of {self._directory} is damaged, and what came after the backup of "
                f"{made_at} cannot be counted: it would be lost. Copy the home, if somebody may "
                "save more of it; --lose-newer goes on"
            )
        where = ", ".join(f"{count} in zone {zone}" for zone, count in _first(counts.items()))
        raise InvalidInput(
            f"{self._directory} holds {pluralise(lost, 'event')} that the backup of {made_at} "
            f"lacks ({where}), and they would be lost: back up the home first; --lose-newer goes on"
        )

    def _must_be_complete(self, place: _Place, zones: list[str]) -> None:
        """Raise InvalidInput where it cannot be read what was forgotten in some zones."""
        if zones and not self._forgotten_may_return:
            raise InvalidInput(
                f"what was forgotten since the backup of {format_time(self._manifest.made_at)} "
                f"cannot be read in {place.directory} (zone {', '.join(_first(zones))}), since "
                "ledger.db and keys.db are damaged or missing there; what was forgotten would come "
                "back. --erasures-from names a later backup that knows some of it; "
                "--forgotten-may-return goes on without the rest"
            )

    def _erase(self, node: Node, zone: str, known: Sequence[PostBackupState]) -> int:
        """Erase again what was erased since; return how many events of the backup that were."""
        ledger = node.ledger
        numbers = {number for since in known for number in since.numbers}
        absent = {envelope.source: envelope for since in known for envelope in since.absent}
        names = {name for since in known for name in since.names}
        if not numbers and not absent and not has_pending_erasure(ledger, zone):
            return 0
        home = Home(self._new, self._configuration)
        if home.settings.encoder is not None and not home.is_cached(home.settings.encoder):
            # Deciding may do without.
            with suppress(EncoderError):
                Home.create_or_open(self._new, self._configuration)
        if ledger.head(zone).number:
            node.drive(zone, self._progress)
            with node.open(zone, node.current(zone)) as files:
                # The backup may have versions of a message that the other history lacks.
                numbers = Chooser(ledger, zone, files).with_all(numbers)
        if numbers or absent:
            erase_again(ledger, zone, numbers, absent.values(), names)
            node.drive(zone, self._progress)
        node.finish_purge(zone)
        left = [
            number
            for number, record in records_at(ledger, zone, numbers).items()
            if record.readable(ledger.keys)
        ]
        if left or has_pending_erasure(ledger, zone):
            raise ErasureFailed(
                f"zone {zone}: what was forgotten since the backup can still be read, so nothing "
                "was restored; recollect verify on the home says more"
            )
        return len(numbers)

    def _keep_tokens(self, there: _Place | None, named: Sequence[_Place]) -> tuple[int, int]:
        """Write the tokens that hold; return how many those are, and how many of the backup's do
        not.

        Where a home is there, its tokens are the newest that are known: one that it does not have
        was revoked.
        """
        backed_up = TokenSnapshot(self._tokens, self._manifest.made_at)
        known = [place.tokens() for place in named]
        if there is not None:
            tokens = not_revoked(there.tokens().tokens, [backed_up, *known])
        else:
            tokens = list(_read_tokens(self._directory / TOKENS_FILE, unix_ms()).tokens)
            own = {token.id for token in tokens}
            tokens += [token for token in not_revoked(self._tokens, known) if token.id not in own]
        if tokens:
            write_tokens(self._new / TOKENS_FILE, tokens)
        holding = {token.id for token in tokens}
        return len(tokens), sum(token.id not in holding for token in self._tokens)


def _read_tokens(path: Path, at: int) -> TokenSnapshot:
    """Return the tokens that a place knows; none where that cannot be read."""
    with suppress(HomeError):
        return TokenSnapshot(read_tokens(path), at)
    return TokenSnapshot([], at)


def _first(items: Iterable[T]) -> list[T]:
    return list(items)[:_MAX_SHOWN]


def _problems(zone: str, problems: Sequence[str]) -> str:
    return (
        f"the backup cannot be restored, since its zone {zone} is not whole: "
        f"{'; '.join(_first(problems))}; use another backup"
    )
