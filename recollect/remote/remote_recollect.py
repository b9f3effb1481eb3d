"""The library as the client of a service, which has the home."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import msgspec

from recollect.home.home_directory import Home, InstallProgress
from recollect.library.library_home import TIMEOUT, Recollect
from recollect.library.library_zone import Zone
from recollect.remote.remote_zone import RemoteZone
from recollect.remote.service_client import ServiceClient
from recollect.schemas.errors import InvalidInput, RequiresLocalHome
from recollect.schemas.wire import BackupReport, RestoreReport, ZoneSummary
from recollect.schemas.zones import DEFAULT_ZONE, split_zone
from recollect.streams.projecting.projector import OnProgress


class _Zones(msgspec.Struct):
    zones: list[ZoneSummary]


class RemoteRecollect(Recollect):
    """A service opened by `Recollect("http://...")`; any thread may call any method."""

    def __init__(
        self,
        home: str | PathLike[str] | Home,
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        ledger: str | None = None,
        encoder: str | None = None,
        progress: InstallProgress | None = None,
        count_accesses: bool = False,
    ) -> None:
        home_options = {"ledger": ledger, "encoder": encoder, "count_accesses": count_accesses}
        for name, value in home_options.items():
            if value:
                raise InvalidInput(f"{name} is set by the service at {home}; leave it out")
        self._service = ServiceClient(str(home), token, timeout)

    @property
    def home(self) -> Path:
        """A service has no local home.

        Raises:
            RequiresLocalHome: always.
        """
        raise RequiresLocalHome(
            f"the home is on the machine of the service at {self._service.url}, so it has no local "
            "path; use it there"
        )

    def zone(self, name: str = DEFAULT_ZONE) -> Zone:
        split_zone(name)
        return RemoteZone(self._service, name)

    def holds(self, zone: str) -> bool:
        return self.zone(zone).exists()

    def zones(self) -> list[str]:
        return sorted(summary.zone for summary in self.zone_summaries())

    def zone_summaries(self) -> list[ZoneSummary]:
        return self._service.get("/v1/zones", _Zones).zones

    def backup(self, path: str | PathLike[str]) -> BackupReport:
        """Raise RequiresLocalHome: a backup is made on the machine of the home."""
        raise RequiresLocalHome("backup requires a local home; call it on the service's machine")

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
        """Raise RequiresLocalHome: a backup is restored on the machine of the home."""
        raise RequiresLocalHome("restore requires a local home; call it on the service's machine")

    def close(self) -> None:
        self._service.close()

    def __repr__(self) -> str:
        return f"Recollect({self._service.url!r})"
