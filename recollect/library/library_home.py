"""The library: an open home, or the client of a service."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from recollect.home.home_directory import Home, InstallProgress
from recollect.home.open_zone import OpenHome
from recollect.home.settings.configuration import Configuration
from recollect.library.library_zone import Zone
from recollect.operations.answers.recall_counter import AccessCounts
from recollect.operations.upkeep import zone_status
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.schemas.wire import BackupReport, RestoreReport, ZoneSummary
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.system.paths import given_path

_REMOTE = ("http://", "https://")
_NO_ENCODER = "none"
#: Read timeout of a service, in seconds.
TIMEOUT = 60.0


class Recollect:
    """An open home, whose zones and threads share one node, one encoder and one set of indexes.

    `Recollect("http://127.0.0.1:8420", token="rct_...")` is the client of a service, with the same
    methods.

    Use it as a context manager, or call `close`. Any thread may call any method; reads do not wait
    for writes. A forked process must open it again.

    >>> with Recollect(home, encoder="none") as r:
    ...     ada = r.zone("ada")
    ...     report = ada.ingest({
    ...         "platform": "chat", "sender_id": "u1", "sender_name": "Ada",
    ...         "occurred_at": "2026-05-08T13:56:00Z", "content": "I live in Turin.",
    ...     })
    ...     ada.recall("Where does Ada live?").results[0].text
    'Ada lives in Turin.'
    """

    def __new__(cls, home: str | PathLike[str] | Home = "~/.recollect", **_: Any) -> Self:
        """Return the library of a home, or the client of a service if `home` is a URL."""
        if cls is Recollect and isinstance(home, str) and home.startswith(_REMOTE):
            from recollect.remote.remote_recollect import RemoteRecollect

            return super().__new__(RemoteRecollect)  # type: ignore[return-value]
        return super().__new__(cls)

    def __init__(
        self,
        home: str | PathLike[str] | Home = "~/.recollect",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        ledger: str | None = None,
        encoder: str | None = None,
        progress: InstallProgress | None = None,
        count_accesses: bool = False,
    ) -> None:
        """Open a home; if there is none, create it.

        If `home` is the URL of a service, such as http://127.0.0.1:8420, this is a client of that
        service. Two parameters are for services only; nothing is sent before the first call:

        `token`: the access token, if the service requires one.
        `timeout`: the read timeout, in seconds.

        The other parameters are for homes only:

        `ledger`: `embedded` or `kafka://host:port`; None: as configured.
        `encoder`: the encoder of a new home, by name, or "none" for keyword search only; None: the
        best available one.
        `progress`: called with (step, done, total) while an encoder is installed.
        `count_accesses`: count the results of `recall` and `context`, and append the counts to the
        ledger every minute and on `close`, as a service does. Without it, queries write nothing.

        Raises:
            HomeError: the directory contains something else, or cannot be used.
            EncoderError: the home is new, and its encoder cannot be installed.
            InvalidInput: `home` or `ledger` is invalid.
        """
        if token is not None:
            raise InvalidInput(
                "token: a local home takes none; leave it out, or give the URL of a service"
            )
        opened = home if isinstance(home, Home) else _open_or_create(home, encoder, progress)
        self._open_home = OpenHome(opened, ledger)
        self._accesses = AccessCounts(self._open_home) if count_accesses else None
        if self._accesses is not None:
            self._open_home.count_accesses = self._accesses.count_results
            self._open_home.count_memories = self._accesses.count_memories

    @property
    def home(self) -> Path:
        """The home's directory.

        >>> r.home.is_dir()
        True
        """
        return self._open_home.home.directory

    def zone(self, name: str = DEFAULT_ZONE) -> Zone:
        """Return a zone, the memory of one tenant, or a branch of it: `ada@trial`.

        The first event creates a zone, `create_branch` a branch.

        Raises:
            InvalidInput: a name is not 1 to 64 letters, digits, `.`, `_` and `-`, or there is no
                such branch.

        >>> r.zone("ada").name
        'ada'
        """
        return Zone(self._open_home.zone(name))

    def holds(self, zone: str) -> bool:
        """Return whether a zone has events.

        Raises:
            InvalidInput: the name is invalid.

        >>> r.holds("ada"), r.holds("nobody")
        (True, False)
        """
        with self._open_home.call_guard():
            return self._open_home.holds(zone)

    def zones(self) -> list[str]:
        """Return the names of the zones with events, sorted.

        >>> r.zones()
        ['ada']
        """
        with self._open_home.call_guard():
            return sorted(self._open_home.node.ledger.zones())

    def zone_summaries(self) -> list[ZoneSummary]:
        """Return the zones with events, each with its size, and whether it is stalled.

        >>> [(summary.zone, summary.events, summary.stalled) for summary in r.zone_summaries()]
        [('ada', 2, False)]
        """
        with self._open_home.call_guard():
            return zone_status.zone_summaries(self._open_home)

    def backup(self, path: str | PathLike[str]) -> BackupReport:
        """Back up the ledger, keys and settings to a new directory, while the home is in use.

        The backup contains the keys of all events: protect it like the home.

        Raises:
            InvalidInput: the ledger is on Kafka, or `path` exists.
            HomeError: the home is read-only or damaged.
            Busy: another process is writing a backup there.

        >>> r.backup("backups/monday").zones
        1
        """
        from recollect.operations.upkeep.backing_up import backup

        with self._open_home.call_guard():
            return backup(self._open_home, given_path("path", path))

    @staticmethod
    def restore(
        home: str | PathLike[str],
        backup: str | PathLike[str],
        *,
        erasures_from: Sequence[str | PathLike[str]] = (),
        lose_newer: bool = False,
        forgotten_may_return: bool = False,
        progress: OnProgress | None = None,
    ) -> RestoreReport:
        """Restore a backup to `home`, and replace the home there, which no process may have open.

        Events forgotten since the backup stay forgotten. These later erasures are read from the
        replaced home and from `erasures_from`: newer backups, or the home itself if it is
        elsewhere.
        `lose_newer`: allow the loss of events that the replaced home has and the backup lacks.
        `forgotten_may_return`: continue if the later erasures cannot be read completely.
        `progress`: called with the number of records checked.

        Raises:
            InvalidInput: newer events would be lost, or later erasures cannot be read.
            HomeError: there is no backup, or `home` is a directory that is not a home.
            CorruptFile: the backup is damaged or incomplete.
            Busy: a process has the home open.

        >>> report = r.backup("backups/monday")
        >>> Recollect.restore("restored", report.path).heads == report.heads
        True
        """
        from recollect.operations.upkeep.restoring import restore

        return restore(
            Configuration(fspath(home)),
            given_path("backup", backup),
            erasures_from=[given_path("erasures_from", place) for place in erasures_from],
            lose_newer=lose_newer,
            forgotten_may_return=forgotten_may_return,
            progress=progress,
        )

    def close(self) -> None:
        """Refuse further calls, wait for the running ones, and close every file.

        >>> r.close()
        """
        if self._accesses is not None:
            self._accesses.close()
        self._open_home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Recollect({str(self.home)!r})"


def _open_or_create(
    given: str | PathLike[str], encoder: str | None, progress: InstallProgress | None
) -> Home:
    if not isinstance(given, str | PathLike):
        raise InvalidInput(f"home is {type(given).__name__}; give the path of a directory")
    path = fspath(given)
    if "://" in path:
        raise InvalidInput(
            f"home: {path} is not a directory; pass a ledger as its own parameter: "
            f"Recollect(home, ledger={path!r})"
        )
    configuration = Configuration(path)
    directory = configuration.home
    try:
        return (
            Home(directory, configuration)
            if Home.exists_at(directory)
            else Home.create_or_open(
                directory,
                configuration,
                encoder=None if encoder == _NO_ENCODER else encoder,
                without_encoder=encoder == _NO_ENCODER,
                progress=progress,
            )
        )
    except HomeError:
        # Another process may have created it in the meantime.
        if Home.exists_at(directory):
            return Home(directory, configuration)
        raise
