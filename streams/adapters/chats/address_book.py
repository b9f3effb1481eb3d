"""Names of people whose numbers and addresses a chat gives alone: from a book that lies beside it.

It is Apple's database of contacts, or vCards, as every program of contacts exports them.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import Damaged, Member
from recollect.streams.adapters.input.text_lines import text_lines

_WAL = "-wal"
_DATABASE = ".abcddb"
_CARDS = (".vcf", ".vcard")
# A number is known by its last digits: countries write what stands before them in many ways.
_DIGITS, _FEWEST = 8, 6
_QUERY = """
    SELECT r.ZFIRSTNAME, r.ZLASTNAME, r.ZORGANIZATION, a.address
      FROM (SELECT ZOWNER, ZFULLNUMBER AS address FROM ZABCDPHONENUMBER
            UNION ALL SELECT ZOWNER, ZADDRESS FROM ZABCDEMAILADDRESS) AS a
      JOIN ZABCDRECORD AS r ON r.Z_PK = a.ZOWNER
     WHERE a.address IS NOT NULL
     ORDER BY r.Z_PK
"""
_FIELD = re.compile(r"(?:[\w-]+\.)?(FN|ORG|TEL|EMAIL)(?:;[^:]{0,200})?:(.*)", re.IGNORECASE)


class AddressBook:
    """Names by the numbers and the addresses of mail that people have."""

    def __init__(self) -> None:
        # None: several people have it.
        self._names: dict[str, str | None] = {}
        #: Books that cannot be read, and why.
        self.damaged: list[tuple[str, Damaged]] = []

    def add(self, address: str, name: str) -> None:
        """Note whose an address is."""
        if (key := _key(address)) and name:
            self._names[key] = name if self._names.get(key, name) == name else None

    def name_of(self, address: str) -> str | None:
        """Return whose an address is; None: nobody's who is known, or that of several people."""
        return self._names.get(_key(address))


def _key(address: str) -> str:
    if "@" in address:
        return address.strip().casefold()
    digits = "".join(sign for sign in address if sign.isdecimal()).lstrip("0")
    return digits[-_DIGITS:] if len(digits) >= _FEWEST else ""


def address_book(folder: Folder) -> AddressBook:
    """Return what the address books in a folder say."""
    book = AddressBook()
    files = folder.files()
    for name in files:
        suffix = Path(name).suffix.casefold()
        if suffix not in (_DATABASE, *_CARDS):
            continue
        member = folder.file(name)
        beside = folder.file(f"{name}{_WAL}") if f"{name}{_WAL}" in files else None
        found = _cards(member) if suffix in _CARDS else _rows(member, beside)
        try:
            for address, person in found:
                book.add(address, person)
        except Damaged as error:
            book.damaged.append((member.path, error))
    return book


def _cards(member: Member) -> Iterator[tuple[str, str]]:
    """Yield (address, name) of vCards."""
    name, addresses = "", [""]
    for _, line in text_lines(member):
        found = _FIELD.match(line)
        if line.strip().upper() == "END:VCARD":
            yield from ((address, name) for address in addresses)
            name, addresses = "", []
        elif found is not None:
            field, value = found[1].upper(), found[2].replace("\\", "").strip()
            if field in ("FN", "ORG"):
                name = value.rstrip(";") if field == "FN" or not name else name
            else:
                addresses.append(value.removeprefix("tel:").removeprefix("mailto:"))


def _rows(member: Member, beside: Member | None) -> Iterator[tuple[str, str]]:
    """Yield (address, name) of Apple's database of contacts."""
    with tempfile.TemporaryDirectory(prefix="recollect-") as directory:
        copy = Path(directory) / "contacts.db"
        for source, target in ((member, copy), (beside, Path(f"{copy}{_WAL}"))):
            if source is not None:
                with source.open() as opened, target.open("wb") as file:
                    shutil.copyfileobj(opened, file)
        with closing(sqlite3.connect(copy)) as database:
            database.text_factory = lambda raw: raw.decode(errors="replace")
            try:
                database.execute("PRAGMA trusted_schema = OFF")
                for first, last, company, address in database.execute(_QUERY):
                    person = " ".join(str(part) for part in (first, last) if part)
                    yield str(address), person or str(company or "")
            except sqlite3.Error as error:
                raise Damaged(f"the address book is damaged, or none: {error}") from None
