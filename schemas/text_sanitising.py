"""Detect, escape and replace characters that cannot be stored or seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import msgspec

StructT = TypeVar("StructT", bound="msgspec.Struct")

# Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, and bidirectional or
# invisible format characters. Visible format characters are excluded (those of Arabic, Syriac,
# Kaithi and hieroglyphs), and so are the joiners U+200C and U+200D, which Persian, Indic scripts
# and emoji need.
_INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
_invisible = re.compile(f"[{_INVISIBLE}]")
# England, Scotland and Wales: the only flags with tag characters.
_invisible_or_flag = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    f"|\U000e0077\U000e006c\U000e0073)\U000e007f|[{_INVISIBLE}]"
)
# A JSON escape: a surrogate pair, a lone surrogate (the group), or any other escape.
_json_escape = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def first_invisible_character(text: str) -> str | None:
    """Return the first invisible character as U+XXXX, or None."""
    found = _invisible.search(text)
    return None if found is None else f"U+{ord(found[0]):04X}"


def escape_invisible(text: str) -> str:
    r"""Return text as one line that is safe to print on a terminal.

    Invisible characters become Python escapes such as `\x1b`, so that a reader sees them.
    """
    return _invisible_or_flag.sub(
        lambda found: found[0] if len(found[0]) > 1 else _python_escape(found[0]), text
    )


def escape_invisible_json(document: str) -> str:
    """Escape invisible characters in a one-line JSON document, without changing its value.

    JSON encoders escape only the C0 controls.
    """
    return _invisible.sub(_json_escape_of, document)


def replace_lone_surrogates(text: str) -> str:
    """Replace each lone surrogate, half of a character, by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def replace_lone_surrogates_json(document: bytes) -> bytes:
    """Replace each escaped lone surrogate in a JSON document by U+FFFD, preserving the length."""
    if b"\\ud" not in document and b"\\uD" not in document:
        return document
    return _json_escape.sub(lambda found: rb"\ufffd" if found[1] else found[0], document)


def replace_lone_surrogates_deep(value: Any) -> Any:
    """Replace lone surrogates in all texts of a JSON value, keys included."""
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if isinstance(value, Mapping):
        return {
            replace_lone_surrogates_deep(key): replace_lone_surrogates_deep(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [replace_lone_surrogates_deep(item) for item in value]
    return value


def to_plain_values(value: Any) -> Any:
    """Return a value as dicts, lists and scalars, with texts that can be encoded.

    Bytes stay bytes, which no field accepts; msgspec alone would make base64 texts of them.
    """
    # Imported here, as below.
    import msgspec

    plain = msgspec.to_builtins(value, builtin_types=(bytes, bytearray))
    return replace_lone_surrogates_deep(plain)


def encodable(struct: StructT) -> StructT:
    """Return a struct whose texts can be encoded: a lone surrogate becomes U+FFFD."""
    # Not needed by --help, which escapes its texts.
    import msgspec

    try:
        msgspec.msgpack.encode(struct)
    except UnicodeEncodeError:
        try:
            fields = replace_lone_surrogates_deep(msgspec.to_builtins(struct))
            return msgspec.convert(fields, type(struct))
        except RecursionError:
            # Left unchanged: validation rejects it as nested too deeply.
            return struct
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Left unchanged: validation rejects its invalid values.
        return struct
    return struct


def collapse_whitespace(text: str) -> str:
    """Replace every run of white space, line breaks included, by one space."""
    return " ".join(text.split())


def truncate_middle(text: str, max_length: int) -> str:
    """Shorten text to at most `max_length` characters by leaving out its middle."""
    if len(text) <= max_length:
        return text
    end = max_length // 3
    return f"{text[: max_length - end - 3]} … {text[-end:]}"


def pluralise(count: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 record, 2,000 records; `plural` only if irregular."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def first_few(ids: Sequence[str], most: int = 5) -> str:
    """Return the first `most` ids in one line, and the number of others: m1, m2 and 13 more."""
    shown = ", ".join(map(collapse_whitespace, ids[:most]))
    return f"{shown} and {len(ids) - most:,} more" if len(ids) > most else shown


def _python_escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape_of(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
