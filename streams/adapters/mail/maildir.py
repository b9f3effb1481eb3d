"""A Maildir: a file a mail in `cur` and `new`, and folders of the same form below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from recollect.streams.adapters.adapter import Adapter, Source
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.mail.mails import MailFiles, is_mail, moment

_HOLDING = ("cur", "new")
_FILE = re.compile(r"(\d{9,11})\.[^/]+")
_FLAGS = re.compile(r"[:;!_-]2,([A-Za-z]*)")
_MAX_DEPTH = 16


def _is_maildir(folder: Folder) -> bool:
    return not {*_HOLDING}.isdisjoint(folder.folders()) and any(
        True for _ in _mails(folder, _MAX_DEPTH)
    )


def _mails(folder: Folder, depth: int = 0) -> Iterator[tuple[Member, datetime | None]]:
    """Yield the mails of a Maildir and of those below it, and when each came."""
    folders = folder.folders()
    for holding in _HOLDING:
        if holding in folders:
            within = folder.folder(holding)
            for name in within.files():
                if not name.startswith(".") and not _is_draft(name):
                    found = _FILE.match(name)
                    member = within.file(name)
                    if found or is_mail(member.start(), name):
                        yield member, moment(int(found.group(1))) if found else None
    if depth < _MAX_DEPTH:
        for name in folders:
            if name not in (*_HOLDING, "tmp"):
                yield from _mails(folder.folder(name), depth + 1)


def _is_draft(name: str) -> bool:
    flags = _FLAGS.search(name)
    return flags is not None and "D" in flags.group(1)


def _read_folder(folder: Folder, options: Options) -> Source:
    return MailFiles(_mails(folder))


ADAPTER = Adapter(
    "maildir",
    lambda start, name: False,
    lambda member, options: MailFiles([(member, None)]),
    recognises_folder=_is_maildir,
    read_folder=_read_folder,
)
