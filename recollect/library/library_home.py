"""The library: a home, open for any number of zones and threads."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

from recollect.home.configuration import Configuration
from recollect.home.home_directory import Home, InstallProgress
from recollect.home.open_zone import OpenHome
from recollect.library.library_zone import Zone
from recollect.operations.answers.recall_counter import AccessCounts
from recollect.operations.memories import listing
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.schemas.wire import BackupReport, RestoreReport, ZoneSummary
from recollect.schemas.zones import DEFAULT_ZONE, check_zone
from recollect.streams.projecting.projector import OnProgress

_REMOTE = ("http://", "https://")
_NO_ENCODER = "none"
#: Seconds that a service may be silent.
TIMEOUT = 60.0


class Recollect:
    """A home, with one node, one encoder and one set of indexes for all its zones and threads.

    Or a service over the network: `Recollect("http://127.0.0.1:8420", token="rct_...")` has the
    same methods, which the service carries out.

    Use it as a context manager, or call `close`. Every method may be called by any thread; those
    that read do not wait for those that write. After a fork it is opened again in the new process.

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
        """Return what is of a home, or of a service where an address is given."""
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
        """Open a home; if there is none, make it, with the best available encoder.

        An address, as http://127.0.0.1:8420, opens the service there, with `token` where it asks
        for one; `timeout`: how many seconds it may be silent. Nothing is sent before the first
        call. The other options are those of a home:
        `ledger`: `embedded` or `kafka://host:port`; None: what the settings say.
        `encoder`: the one to make a new home with, by name, or "none" for search by words alone.
        `progress` is told (what, done, total) while an encoder is brought.
        `count_accesses`: what `recall` and `context` return is counted, and the counts are appended
        to the ledger every minute and at the end, as a service does; without it, asking writes
        nothing.

        Raises:
            HomeError: the directory holds something else, or cannot be used.
            EncoderError: the home is new, and its encoder cannot be brought.
            InvalidInput: `home` or `ledger` is none.
        """
        if token is not None:
            raise InvalidInput(
                "token: a home asks for none; give one with the address of a service"
            )
        made = home if isinstance(home, Home) else _home(home, encoder, progress)
        self._open_home = OpenHome(made, ledger)
        self._accesses = AccessCounts(self._open_home) if count_accesses else None
        if self._accesses is not None:
            self._open_home.count_accesses = self._accesses.note

    @property
    def home(self) -> Path:
        """The home's directory.

        >>> r.home.is_dir()
        True
        """
        return self._open_home.home.directory

    def zone(self, name: str = DEFAULT_ZONE) -> Zone:
        """Return a zone, the memory of one tenant; it comes into being with its first event.

        Raises:
            InvalidInput: the name is none: letters, digits, `.`, `_` and `-`, at most 64.

        >>> r.zone("ada").name
        'ada'
        """
        return Zone(self._open_home.zone(name))

    def holds(self, zone: str) -> bool:
        """Return whether a zone holds anything; of one that does not, nothing is kept.

        Raises:
            InvalidInput: the name is none.

        >>> r.holds("ada"), r.holds("nobody")
        (True, False)
        """
        check_zone(zone)
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
        """Return the zones with events, each with how many records its ledger has.

        >>> [(summary.zone, summary.events) for summary in r.zone_summaries()]
        [('ada', 2)]
        """
        with self._open_home.call_guard():
            return listing.zones(self._open_home)

    def backup(self, path: str | PathLike[str]) -> BackupReport:
        """Write what cannot be made again of the home to a new directory, while others write.

        It holds the keys of everything that was said: keep it as you keep the home.

        Raises:
            InvalidInput: the ledger is on Kafka, or something is at `path`.
            HomeError: the home is read-only, or damaged.
            Busy: another process writes a backup there.

        >>> r.backup("backups/monday").zones
        1
        """
        from recollect.operations.upkeep.backing_up import backup

        with self._open_home.call_guard():
            return backup(self._open_home, Path(path))

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
        """Put the home of a backup at `home`, where no process has one open.

        What was forgotten since the backup does not come back. The home that is there knows what
        that is, and so do `erasures_from`, later backups or homes. `lose_newer`: events that the
        home has and the backup lacks may be lost. `forgotten_may_return`: go on where it cannot be
        read what was forgotten. `progress` is told how many records were checked.

        Raises:
            InvalidInput: newer events would be lost, or it cannot be read what was forgotten.
            HomeError: there is no backup, or something else than its home at `home`.
            CorruptFile: the backup is not whole.
            Busy: a process has the home open.

        >>> made = r.backup("backups/monday")
        >>> Recollect.restore("restored", made.path).heads == made.heads
        True
        """
        from recollect.operations.upkeep.restoring import restore

        return restore(
            Configuration(fspath(home)),
            Path(backup),
            erasures_from=[Path(place) for place in erasures_from],
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


def _home(
    given: str | PathLike[str], encoder: str | None, progress: InstallProgress | None
) -> Home:
    if not isinstance(given, str | PathLike):
        raise InvalidInput(f"home is {type(given).__name__}; give the path of a directory")
    path = fspath(given)
    if "://" in path:
        raise InvalidInput(
            f"home: {path} is no directory; give a ledger by its name: "
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
        # Another process may have made it meanwhile.
        if Home.exists_at(directory):
            return Home(directory, configuration)
        raise
