"""Backup of a home on the embedded ledger, while it is in use."""

from __future__ import annotations

import time
from pathlib import Path

from recollect.home.home_swap import HOME_FILE
from recollect.home.open_zone import OpenHome, unix_ms
from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import format_time
from recollect.schemas.wire import BackupReport
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger, home_id
from recollect.streams.lifecycle.backup_files import TOKENS_FILE, write_backup

#: The message for a home whose ledger is on Kafka.
ON_KAFKA = (
    "only an embedded ledger can be backed up; the ledger of this home is on Kafka, which "
    "replicates it; see docs/running.md for what to back up there"
)


def backup(open_home: OpenHome, path: Path) -> BackupReport:
    """Write a consistent backup of the ledger, keys, settings and tokens to a new directory.

    Raises:
        InvalidInput: the ledger is on Kafka, or `path` exists or is inside the home.
        HomeError: the home is read-only.
        CorruptFile: the ledger's files are damaged.
        Busy: another process is writing a backup there.
    """
    ledger = open_home.node.ledger
    if not isinstance(ledger, EmbeddedLedger):
        raise InvalidInput(f"backup: {ON_KAFKA}")
    home = open_home.home.directory
    path = path.expanduser().resolve()
    if path.is_relative_to(home.resolve()):
        raise InvalidInput(f"{path} is inside the home: choose a directory outside it")
    started = time.monotonic()
    # Set first: a restore assumes that tokens revoked before this time are not in the backup.
    made_at = unix_ms()
    ledger.create()
    identity = home_id(home)
    assert identity is not None
    manifest = write_backup(
        ledger,
        path,
        home=identity,
        settings=(home / HOME_FILE).read_bytes(),
        tokens=_read_optional(home / TOKENS_FILE),
        made_at=made_at,
    )
    return BackupReport(
        path=str(path),
        made_at=format_time(made_at),
        zones=len(manifest.heads),
        events=manifest.events,
        keys=manifest.keys,
        bytes=sum(file.bytes for file in manifest.files.values()),
        heads=manifest.heads,
        seconds=round(time.monotonic() - started, 3),
    )


def _read_optional(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
