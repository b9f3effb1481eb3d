"""Maildir: one file per mail in `cur` and `new`, and subfolders of the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from recollect.streams.adapters.adapter import Adapter, ExportSource
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.mail.mails import MailFiles, from_unix_seconds, is_mail

_MAIL_FOLDERS = ("cur", "new")
_FILE = re.compile(r"(\d{9,11})\.[^/]+")
_FLAGS = re.compile(r"[:;!_-]2,([A-Za-z]*)")
_MAX_DEPTH = 16


def _is_maildir(folder: Folder) -> bool:
    return not {*_MAIL_FOLDERS}.isdisjoint(folder.folders()) and any(
        True for _ in _mails(folder, _MAX_DEPTH)
    )


def _mails(folder: Folder, depth: int = 0) -> Iterator[tuple[InputEntry, datetime | None]]:
    """Yield the mails of a Maildir and its subfolders, each with the time it was received."""
    folders = folder.folders()
    for mail_folder in _MAIL_FOLDERS:
        if mail_folder in folders:
            files = folder.folder(mail_folder)
            for name in files.files():
                if not name.startswith(".") and not _is_draft(name):
                    match = _FILE.match(name)
                    entry = files.file(name)
                    if match or _may_be_mail(entry):
                        yield entry, from_unix_seconds(int(match.group(1))) if match else None
    if depth < _MAX_DEPTH:
        for name in folders:
            if name not in (*_MAIL_FOLDERS, "tmp"):
                yield from _mails(folder.folder(name), depth + 1)


def _may_be_mail(entry: InputEntry) -> bool:
    """Return whether a file may be a mail; an unreadable file may, and is reported when read."""
    try:
        return is_mail(entry.start(), entry.name)
    except DamagedInput:
        return True


def _is_draft(name: str) -> bool:
    flags = _FLAGS.search(name)
    return flags is not None and "D" in flags.group(1)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    return MailFiles(_mails(folder))


ADAPTER = Adapter(
    "maildir",
    lambda start, name: False,
    lambda entry, options: MailFiles([(entry, None)]),
    recognises_folder=_is_maildir,
    read_folder=_read_folder,
)
