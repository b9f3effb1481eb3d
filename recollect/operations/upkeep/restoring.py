"""Restoring a home from a backup, without the events that were forgotten since.

The restored home is built next to the current one, which stays in use until the last step:

1. copy the backup's files, compare them with the manifest, and check chains, seals and keys;
2. read the later erasures from the current home and from the other given sources;
3. append a command that repeats them to the ledger of each zone, and decide this command;
4. delete the read models that contained forgotten data, rebuild them from the ledger, and verify
   them;
5. replace the current home (`recollect/home/home_swap.py`).
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
from recollect.home.home_directory import Home
from recollect.home.home_swap import HOME_FILE, STAGING_DIRECTORY, HomeSwap
from recollect.home.ledgers import EMBEDDED, open_node
from recollect.home.open_zone import unix_ms
from recollect.home.settings.configuration import CONFIG_FILE, Configuration
from recollect.operations.erasure.erasure_targets import TargetFinder
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


class _Committed(msgspec.Struct, frozen=True):
    """The report of a committed restore, and the digest of its backup."""

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
    """Restore a backup to the configured home, without the events forgotten since.

    Later erasures are read from the current home and from `erasures_from`: newer backups, or
    the home itself if it is elsewhere.
    `lose_newer`: allow the loss of events that came after the backup.
    `forgotten_may_return`: continue if the later erasures cannot be read completely.

    After a crash, either the old or the restored home is there; calling this again completes it.

    Raises:
        InvalidInput: newer events would be lost, later erasures cannot be read, or the ledger is on
            Kafka.
        HomeError: there is no backup, or the directory contains something other than the backed-up
            home.
        CorruptFile: the backup is damaged or incomplete.
        Busy: a process has the home open.
    """
    if configuration.resolve("ledger").value.startswith(SCHEME):
        raise InvalidInput(f"restore: {ON_KAFKA}")
    directory = configuration.home.resolve()
    opened = Backup(backup.expanduser())
    sources = [path.expanduser().resolve() for path in erasures_from]
    for path in (opened.directory, *sources):
        if path.is_relative_to(directory) or directory.is_relative_to(path):
            raise InvalidInput(
                f"{path} is inside the home {directory}, or contains it; a restore replaces the "
                "content of the home, so move one of them"
            )
    with _exclusive_access(directory):
        swap = HomeSwap(directory)
        if swap.interrupted:
            committed = _finish(swap)
            if committed is not None and committed.digest == opened.digest:
                return msgspec.structs.replace(committed.report, resumed=True)
        return _Restore(
            configuration,
            directory,
            opened,
            sources,
            swap,
            lose_newer=lose_newer,
            forgotten_may_return=forgotten_may_return,
            progress=progress,
        ).run()


@contextmanager
def _exclusive_access(directory: Path) -> Iterator[None]:
    """Keep other processes from opening the home, whose directory is created if necessary.

    If the directory stays empty, it is deleted at the end.
    """
    require_writable(directory)
    is_new = not directory.exists()
    make_directory(directory)
    try:
        with exclusive(directory / IN_USE_LOCK, wait=False):
            yield
    except Busy:
        raise Busy(
            f"a process (a service, a worker, a command or another restore) has the home "
            f"{directory} open: stop it, then restore again"
        ) from None
    finally:
        if is_new and not Home.exists_at(directory):
            with suppress(OSError):
                for lock in directory.glob("*.lock"):
                    lock.unlink()
                directory.rmdir()


def _finish(swap: HomeSwap) -> _Committed | None:
    """Finish an interrupted restore; return its report, if that can be read."""
    committed = None
    with suppress(FileNotFoundError, msgspec.DecodeError):
        committed = msgspec.json.decode((swap.staging / _REPORT).read_bytes(), type=_Committed)
    swap.finish()
    return committed


class _ErasureSource:
    """A source of later erasures and tokens: the current home, a newer backup, or another home.

    `copy_to`: the directory to which a backup is copied, since its own files must not be changed.
    """

    def __init__(self, directory: Path, manifest: Manifest, copy_to: Path | None) -> None:
        self.directory = directory
        self.at = unix_ms()
        files = directory
        if copy_to is not None and (directory / MANIFEST).exists():
            backup = Backup(directory)
            make_directory(copy_to)
            backup.copy(copy_to)
            files, self.at = copy_to, backup.manifest.made_at
        self.ledger = SalvageLedger(files)
        self._tokens = files / TOKENS_FILE
        self.home_ids = self.ledger.home_ids()
        self.is_of_same_home = manifest.home in self.home_ids

    def tokens(self) -> TokenSnapshot:
        """Return the access tokens in this source."""
        return _read_tokens(self._tokens, self.at)


class _Restore:
    """One restore, from the copy of the backup to the swap."""

    def __init__(
        self,
        configuration: Configuration,
        directory: Path,
        backup: Backup,
        erasures_from: Sequence[Path],
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
        self._erasures_from = erasures_from
        self._swap = swap
        self._new = swap.new
        self._lose_newer = lose_newer
        self._forgotten_may_return = forgotten_may_return
        self._progress = progress
        self._tokens: list[StoredToken] = []

    def run(self) -> RestoreReport:
        """Build the restored home, and replace the current one with it."""
        started = time.monotonic()
        with ExitStack() as open_files, ExitStack() as locks:
            current = self._current_home(open_files)
            self._swap.begin()
            try:
                self._stage()
                others = [
                    self._open_source(number, open_files)
                    for number in range(len(self._erasures_from))
                ]
                report = self._build(current, others)
                # SQLite files must not be open while they are moved.
                open_files.close()
                # No token may be revoked between this and the swap.
                locks.enter_context(AccessTokens(self._directory).locked())
                kept, revoked = self._write_tokens(current, others)
                report = msgspec.structs.replace(
                    report,
                    erasures_from=[
                        str(source.directory) for source in (current, *others) if source
                    ],
                    tokens=kept,
                    tokens_revoked=revoked,
                    seconds=round(time.monotonic() - started, 3),
                )
                committed = msgspec.json.encode(_Committed(self._backup.digest, report))
                replace_file(self._swap.staging / _REPORT, committed)
                self._swap.swap()
            except BaseException:
                if not self._swap.interrupted:
                    self._swap.discard()
                raise
        return report

    def _current_home(self, open_files: ExitStack) -> _ErasureSource | None:
        """Open the home to be replaced; None if there is none, or it has no events.

        Raises:
            HomeError: the directory contains something other than the backed-up home.
        """
        home_files = {HOME_FILE, IDENTITY_FILE, LEDGER_FILE, KEYS_FILE, "zones", "copy"}
        if (self._directory / "copy").exists() or self._is_moved():
            raise HomeError(
                f"the home {self._directory} follows a ledger on Kafka: restore to another "
                "directory"
            )
        names = {path.name for path in self._directory.iterdir()} - {STAGING_DIRECTORY, CONFIG_FILE}
        names = {name for name in names if not name.endswith(".lock")}
        if not names & home_files:
            if names:
                raise HomeError(
                    f"{self._directory} exists and is not a recollect home; name an empty directory"
                )
            return None
        if not names & home_files - {HOME_FILE}:
            return None
        current = _ErasureSource(self._directory, self._manifest, None)
        open_files.callback(current.ledger.close)
        if current.home_ids and not current.is_of_same_home:
            if not current.ledger.is_empty():
                raise HomeError(
                    f"{self._directory} is not the home that was backed up: give the directory "
                    "of that home, or an empty one"
                )
            return None
        return current

    def _is_moved(self) -> bool:
        """Return whether the current home's ledger was moved to Kafka."""
        with suppress(HomeError, NewerFormat):
            settings = Home(self._directory, self._configuration).settings
            return settings.promoted_to is not None
        return False

    def _stage(self) -> None:
        """Copy the backup, and check its files and settings."""
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
            raise CorruptFile(
                "the backup is of a home whose ledger was moved to Kafka; use a backup made "
                "before that"
            )

    def _open_source(self, number: int, open_files: ExitStack) -> _ErasureSource:
        directory = self._erasures_from[number]
        if not directory.is_dir():
            raise InvalidInput(f"erasures_from {directory}: there is no such directory")
        source = _ErasureSource(directory, self._manifest, self._swap.staging / f"later-{number}")
        open_files.callback(source.ledger.close)
        if not source.is_of_same_home:
            raise InvalidInput(
                f"erasures_from {directory} belongs to another home, or to none: name a newer "
                "backup of this home, or the home itself"
            )
        return source

    def _build(
        self, current: _ErasureSource | None, others: Sequence[_ErasureSource]
    ) -> RestoreReport:
        """Build the restored home, except for its tokens."""
        sources = [source for source in (current, *others) if source is not None]
        with closing(open_node(Home(self._new, self._configuration), EMBEDDED)) as node:
            self._check(node)
            failpoint("restore.staged")
            zones = {*self._manifest.heads}.union(*(source.ledger.zones() for source in sources))
            states = {
                zone: [source.ledger.state_since(zone, node.ledger) for source in sources]
                for zone in sorted(zones)
            }
            lost: int | None = 0
            if current is not None:
                lost = self._lost_events(
                    {zone: zone_states[0] for zone, zone_states in states.items()}
                )
            for index, source in enumerate(sources):
                incomplete = [
                    zone for zone, zone_states in states.items() if not zone_states[index].complete
                ]
                self._require_complete(source, incomplete)
            forgotten = sum(
                self._erase(node, zone, zone_states) for zone, zone_states in states.items()
            )
        # These files contained forgotten data until the erasures were decided.
        delete_directory(self._new / "zones")
        for path in self._new.glob("driver.db*"):
            path.unlink()
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
                any(state.is_current for state in states[zone]) for zone in self._manifest.heads
            )
            and bool(sources),
            erasures_from=[],
            forgotten=forgotten,
            events_lost=lost,
            tokens=0,
            tokens_revoked=0,
            heads=heads,
            seconds=0.0,
        )

    def _check(self, node: Node) -> None:
        """Raise CorruptFile if the copied ledger differs from the manifest or was changed."""
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

    def _lost_events(self, states: dict[str, PostBackupState]) -> int | None:
        """Return how many events of the current home would be lost; None if that is unknown.

        Raises:
            InvalidInput: events would be lost, without `lose_newer`.
        """
        counts = {
            zone: state.newer_events for zone, state in states.items() if state.newer_events != 0
        }
        lost = None if None in counts.values() else sum(filter(None, counts.values()))
        if not counts or self._lose_newer:
            return lost
        made_at = format_time(self._manifest.made_at)
        if lost is None:
            raise InvalidInput(
                f"the ledger of {self._directory} is damaged, and what came after the backup of "
                f"{made_at} cannot be counted and would be lost. Copy the home first if its data "
                "might still be salvaged; to continue anyway, give `lose_newer`"
            )
        where = ", ".join(f"{count} in zone {zone}" for zone, count in _first(counts.items()))
        raise InvalidInput(
            f"{self._directory} holds {pluralise(lost, 'event')} that the backup of {made_at} "
            f"lacks ({where}), and they would be lost: back up the home first, or give "
            "`lose_newer` to continue anyway"
        )

    def _require_complete(self, source: _ErasureSource, zones: list[str]) -> None:
        """Raise InvalidInput if the later erasures of some zones cannot be read."""
        if zones and not self._forgotten_may_return:
            raise InvalidInput(
                f"the erasures since the backup of {format_time(self._manifest.made_at)} cannot be "
                f"read from {source.directory} (zone {', '.join(_first(zones))}): ledger.db and "
                "keys.db are damaged or missing there. Restoring would bring erased data back. "
                "Give a later backup that has these erasures as `erasures_from`, or give "
                "`forgotten_may_return` to continue without them"
            )

    def _erase(self, node: Node, zone: str, states: Sequence[PostBackupState]) -> int:
        """Repeat the later erasures; return how many events of the backup they erased."""
        ledger = node.ledger
        numbers = {number for state in states for number in state.numbers}
        absent = {envelope.source: envelope for state in states for envelope in state.absent}
        id_hashes = {id_hash for state in states for id_hash in state.id_hashes}
        if not numbers and not absent and not has_pending_erasure(ledger, zone):
            return 0
        home = Home(self._new, self._configuration)
        if not all(map(home.is_cached, home.settings.encoders)):
            # The erasures can be decided without an encoder.
            with suppress(EncoderError):
                Home.create_or_open(self._new, self._configuration)
        if ledger.head(zone).number:
            node.drive(zone, self._progress)
            with node.open(zone, node.current(zone)) as files:
                # The backup may have versions of a message that the other ledger lacks.
                numbers = TargetFinder(ledger, zone, files).with_dependents(numbers)
        if numbers or absent:
            erase_again(ledger, zone, numbers, absent.values(), id_hashes)
            node.drive(zone, self._progress)
        node.finish_purge(zone)
        readable = [
            number
            for number, record in records_at(ledger, zone, numbers).items()
            if record.readable(ledger.keys)
        ]
        if readable or has_pending_erasure(ledger, zone):
            raise ErasureFailed(
                f"zone {zone}: events forgotten since the backup can still be read, so nothing "
                "was restored; for details run recollect verify on the home"
            )
        return len(numbers)

    def _write_tokens(
        self, current: _ErasureSource | None, others: Sequence[_ErasureSource]
    ) -> tuple[int, int]:
        """Write the tokens not revoked since; return the numbers of written and of revoked tokens.

        The current home, if there is one, has the newest tokens; a token missing there was revoked.
        """
        backed_up = TokenSnapshot(self._tokens, self._manifest.made_at)
        snapshots = [source.tokens() for source in others]
        if current is not None:
            tokens = not_revoked(current.tokens().tokens, [backed_up, *snapshots])
        else:
            tokens = list(_read_tokens(self._directory / TOKENS_FILE, unix_ms()).tokens)
            current_ids = {token.id for token in tokens}
            tokens += [
                token
                for token in not_revoked(self._tokens, snapshots)
                if token.id not in current_ids
            ]
        if tokens:
            write_tokens(self._new / TOKENS_FILE, tokens)
        kept = {token.id for token in tokens}
        return len(tokens), sum(token.id not in kept for token in self._tokens)


def _read_tokens(path: Path, at: int) -> TokenSnapshot:
    """Return the tokens in a file, or no tokens if it cannot be read."""
    with suppress(HomeError):
        return TokenSnapshot(read_tokens(path), at)
    return TokenSnapshot([], at)


def _first(items: Iterable[T]) -> list[T]:
    return list(items)[:_MAX_SHOWN]


def _problems(zone: str, problems: Sequence[str]) -> str:
    return (
        f"the backup cannot be restored, since its zone {zone} is damaged: "
        f"{'; '.join(_first(problems))}; use another backup"
    )
