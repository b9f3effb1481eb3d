"""`winmail.dat`: the text and the files of a mail, as Outlook packs them (MS-OXTNEF).

Of texts, plain text and HTML are read; a text in RTF mostly repeats the plain text of the mail.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_SIGNATURE = 0x223E9F78
# Attributes of the stream.
_BODY, _CODE_PAGE, _PROPERTIES = 0x800C, 0x9007, 0x9003
_NEW_FILE, _FILE_NAME, _FILE_DATA, _FILE_PROPERTIES = 0x9002, 0x8010, 0x800F, 0x9005
# Properties of MAPI.
_TEXT, _HTML, _HTML_CODE_PAGE = 0x1000, 0x1013, 0x3FDE
_SHORT_NAME, _LONG_NAME, _MIME_TYPE = 0x3704, 0x3707, 0x370E
_INT, _STRING, _UNICODE = 0x0003, 0x001E, 0x001F
_VARIABLE = frozenset({_STRING, _UNICODE, 0x000D, 0x0102})
# Bytes of the other types, padded to a multiple of 4.
_SIZES = {
    0x0001: 0,
    0x0002: 4,
    _INT: 4,
    0x0004: 4,
    0x000A: 4,
    0x000B: 4,
    0x0005: 8,
    0x0006: 8,
    0x0007: 8,
    0x0014: 8,
    0x0040: 8,
    0x0048: 16,
}
_SEVERAL = 0x1000
# Properties from this id on have names.
_FIRST_NAMED = 0x8000
_MAX_VALUES = 100_000
_UTF_8, _UTF_7 = 65_001, 65_000


class TnefError(ValueError):
    """The content is not TNEF, or is damaged."""


class TnefFile(NamedTuple):
    """A file; name and MIME type are empty if they are unknown."""

    name: str
    mime_type: str
    size: int


class TnefContents(NamedTuple):
    """The plain text, the HTML in `charset`, and the files."""

    text: str
    html: bytes
    charset: str | None
    files: tuple[TnefFile, ...]


def contents_of_tnef(raw: bytes) -> TnefContents:
    """Return the contents of a `winmail.dat`.

    Raises:
        TnefError: it is damaged or truncated.
    """
    try:
        return _contents(_Reader(raw))
    except (struct.error, IndexError, LookupError, ValueError) as error:
        raise TnefError(f"damaged winmail.dat: {error}") from None


class _Reader:
    """Reads numbers (little-endian) and bytes, and raises TnefError beyond the end."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._raw)

    def take(self, count: int) -> bytes:
        found = self._raw[self._at : self._at + count]
        if len(found) < count:
            raise TnefError("it is cut off")
        self._at += count
        return found

    def number(self, size: int = 4) -> int:
        return int.from_bytes(self.take(size), "little")

    def padded(self, count: int) -> bytes:
        """Return bytes that are padded to a multiple of 4."""
        found = self.take(count)
        self.take(-count % 4)
        return found


def _contents(reader: _Reader) -> TnefContents:
    if reader.number() != _SIGNATURE:
        raise TnefError("it has another signature")
    reader.number(2)
    code_page = 1_252
    text, html = "", b""
    html_charset: str | None = None
    files: list[TnefFile] = []
    while not reader.is_at_end:
        reader.number(1)
        attribute = reader.number() & 0xFFFF
        content = reader.take(reader.number())
        if reader.number(2) != sum(content) & 0xFFFF:
            raise TnefError("a checksum is wrong")
        if attribute == _CODE_PAGE:
            code_page = int.from_bytes(content[:4], "little")
        elif attribute == _BODY:
            text = text or _decoded(content, code_page)
        elif attribute == _PROPERTIES:
            properties = dict(_properties(_Reader(content), code_page))
            if isinstance(found := properties.get(_TEXT), str):
                text = found
            if isinstance(found := properties.get(_HTML), bytes):
                html = found
            if isinstance(found := properties.get(_HTML_CODE_PAGE), int):
                html_charset = _charset(found)
        elif attribute == _NEW_FILE:
            files.append(TnefFile("", "", 0))
        elif files and attribute == _FILE_NAME:
            files[-1] = files[-1]._replace(name=_decoded(content, code_page))
        elif files and attribute == _FILE_DATA:
            files[-1] = files[-1]._replace(size=len(content))
        elif files and attribute == _FILE_PROPERTIES:
            files[-1] = _described(files[-1], dict(_properties(_Reader(content), code_page)))
    return TnefContents(text, html, html_charset, tuple(files))


def _described(file: TnefFile, properties: dict[int, object]) -> TnefFile:
    names = (properties.get(_LONG_NAME), file.name, properties.get(_SHORT_NAME))
    mime_type = properties.get(_MIME_TYPE)
    return file._replace(
        name=next((name for name in names if isinstance(name, str) and name), ""),
        mime_type=mime_type if isinstance(mime_type, str) else "",
    )


def _properties(reader: _Reader, code_page: int) -> Iterator[tuple[int, object]]:
    """Yield (id, value) of MAPI properties; of several values the first."""
    for _ in range(_checked(reader.number())):
        type_, id_ = reader.number(2), reader.number(2)
        if id_ >= _FIRST_NAMED:
            reader.take(16)
            if reader.number():
                reader.padded(reader.number())
            else:
                reader.number()
        base = type_ & ~_SEVERAL
        is_variable = base in _VARIABLE
        count = _checked(reader.number()) if is_variable or type_ & _SEVERAL else 1
        if count > 1 and not is_variable and not _SIZES[base]:
            raise TnefError(f"it claims to have {count} values without content")
        values = [
            reader.padded(reader.number() if is_variable else _SIZES[base]) for _ in range(count)
        ]
        if not values:
            continue
        value = values[0]
        if base == _UNICODE:
            yield id_, value.decode("utf-16-le", "replace").rstrip("\0")
        elif base == _STRING:
            yield id_, _decoded(value, code_page)
        elif base == _INT:
            yield id_, int.from_bytes(value, "little")
        else:
            yield id_, value


def _checked(count: int) -> int:
    if count > _MAX_VALUES:
        raise TnefError(f"it claims to have {count} values")
    return count


def _decoded(raw: bytes, code_page: int) -> str:
    raw = raw.rstrip(b"\0")
    try:
        return raw.decode(_charset(code_page), "replace")
    except LookupError:
        return raw.decode("cp1252", "replace")


def _charset(code_page: int) -> str:
    return {_UTF_8: "utf-8", _UTF_7: "utf-7"}.get(code_page, f"cp{code_page}")
