"""Names for phone numbers and mail addresses in a chat, from an address book next to it.

The book is Apple's contacts database, or vCards.
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
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.text_lines import text_lines

_WAL = "-wal"
_DATABASE = ".abcddb"
_CARDS = (".vcf", ".vcard")
# Phone numbers match by their last digits, because prefixes are written in many ways.
_DIGITS, _MIN_DIGITS = 8, 6
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
    """Names by phone number and mail address."""

    def __init__(self) -> None:
        # None: several people share the address.
        self._names: dict[str, str | None] = {}
        #: Address books that cannot be read, with their errors.
        self.damaged: list[tuple[str, DamagedInput]] = []

    def add(self, address: str, name: str) -> None:
        """Add the name for an address."""
        if (key := _key(address)) and name:
            self._names[key] = name if self._names.get(key, name) == name else None

    def name_of(self, address: str) -> str | None:
        """Return the name for an address; None if it is unknown or shared."""
        return self._names.get(_key(address))


def _key(address: str) -> str:
    if "@" in address:
        return address.strip().casefold()
    digits = "".join(char for char in address if char.isdecimal()).lstrip("0")
    return digits[-_DIGITS:] if len(digits) >= _MIN_DIGITS else ""


def read_address_books(folder: Folder) -> AddressBook:
    """Read the address books in a folder."""
    book = AddressBook()
    files = folder.files()
    for name in files:
        suffix = Path(name).suffix.casefold()
        if suffix not in (_DATABASE, *_CARDS):
            continue
        entry = folder.file(name)
        wal = folder.file(f"{name}{_WAL}") if f"{name}{_WAL}" in files else None
        cards = _cards(entry) if suffix in _CARDS else _rows(entry, wal)
        try:
            for address, person in cards:
                book.add(address, person)
        except DamagedInput as error:
            book.damaged.append((entry.path, error))
    return book


def _cards(entry: InputEntry) -> Iterator[tuple[str, str]]:
    """Yield (address, name) from vCards."""
    name, addresses = "", [""]
    for _, line in text_lines(entry):
        match = _FIELD.match(line)
        if line.strip().upper() == "END:VCARD":
            yield from ((address, name) for address in addresses)
            name, addresses = "", []
        elif match is not None:
            field, value = match[1].upper(), match[2].replace("\\", "").strip()
            if field in ("FN", "ORG"):
                name = value.rstrip(";") if field == "FN" or not name else name
            else:
                addresses.append(value.removeprefix("tel:").removeprefix("mailto:"))


def _rows(entry: InputEntry, wal: InputEntry | None) -> Iterator[tuple[str, str]]:
    """Yield (address, name) from Apple's contacts database."""
    with tempfile.TemporaryDirectory(prefix="recollect-") as directory:
        copy = Path(directory) / "contacts.db"
        for source, target in ((entry, copy), (wal, Path(f"{copy}{_WAL}"))):
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
                raise DamagedInput(f"not an address book, or a damaged one: {error}") from None
