"""Mentions of users and channels. The text of a message changes when one of them is renamed.

An export replaces each id by the current name. The event's metadata records where it
did. A message is thus recognised even after a rename: apart from the names, its text is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from recollect.schemas.events import Attachment, Content

#: The key of the mentions in an event's metadata.
MENTIONS = "mentions"
_MAX_MENTIONS = 1_000


class Mention(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name of a user or a channel in a text: its offsets, with the sign before it, and the id.

    `attachment`: the index of the attachment if the name is in its caption; None if the name is in
    the content.
    """

    start: int
    end: int
    id: str
    attachment: int | None = None


def find_mentions(
    content: str,
    attachments: Sequence[Attachment],
    names: Mapping[str, Mapping[str, Iterable[str]]],
) -> list[dict[str, Any]]:
    """Return the metadata of the mentions in a message.

    `names`: for each sign that a platform puts before names, the names by user or channel id.
    """
    signed_names = sorted(
        (
            (f"{sign}{name}", id_)
            for sign, names_by_id in names.items()
            for id_, known_names in names_by_id.items()
            for name in known_names
            if name
        ),
        key=lambda one: (-len(one[0]), one),
    )
    mentions: list[Mention] = []
    for attachment, text in _texts_by_attachment(content, attachments):
        taken: list[Mention] = []
        for name, id_ in signed_names:
            at = text.find(name)
            while at >= 0 and len(taken) < _MAX_MENTIONS:
                end = at + len(name)
                if all(end <= other.start or at >= other.end for other in taken):
                    taken.append(Mention(at, end, id_, attachment))
                at = text.find(name, end)
        mentions += sorted(taken, key=lambda one: one.start)
    return [msgspec.to_builtins(one) for one in mentions]


def same_but_names(one: Content, other: Content) -> bool:
    """Return whether the texts of two messages differ only in mentioned names.

    Events of earlier builds do not record mentions. In a comparison with such an event, any name
    matches.
    """
    mine, theirs = _mentions(one), _mentions(other)
    if not (mine or theirs) or len(one.attachments) != len(other.attachments):
        return False
    texts = zip(_texts(one, mine), _texts(other, theirs), strict=True)
    return all(_match(this, that, bool(mine), bool(theirs)) for this, that in texts)


def without_texts(content: Content) -> Content:
    """Return a message without the texts that `same_but_names` compares."""
    captions = tuple(msgspec.structs.replace(one, caption=None) for one in content.attachments)
    return msgspec.structs.replace(content, content="", attachments=captions)


def _mentions(content: Content) -> tuple[Mention, ...]:
    given = content.metadata.get(MENTIONS)
    if not isinstance(given, list) or len(given) > 2 * _MAX_MENTIONS:
        return ()
    try:
        return msgspec.convert(tuple(given), tuple[Mention, ...])
    except msgspec.ValidationError:
        # A client stored something else under the same key.
        return ()


_SplitText = tuple[tuple[str, ...], tuple[str, ...]]


def _texts(content: Content, mentions: Sequence[Mention]) -> list[_SplitText]:
    """Return (pieces around the mentions, their ids) for each text."""
    return [
        _split_at_mentions(text, [one for one in mentions if one.attachment == attachment])
        for attachment, text in _texts_by_attachment(content.content, content.attachments)
    ]


def _texts_by_attachment(
    content: str, attachments: Sequence[Attachment]
) -> Iterator[tuple[int | None, str]]:
    """Yield (None, content), then (index, caption) of each attachment."""
    yield None, content
    for number, one in enumerate(attachments):
        yield number, one.caption or ""


def _split_at_mentions(text: str, mentions: Sequence[Mention]) -> _SplitText:
    bounds = [0, *(offset for one in mentions for offset in (one.start, one.end)), len(text)]
    if any(first > second for first, second in pairwise(bounds)):
        return (text,), ()
    pieces = tuple(text[bounds[n] : bounds[n + 1]] for n in range(0, len(bounds), 2))
    return pieces, tuple(one.id for one in mentions)


def _match(
    one: _SplitText, other: _SplitText, one_has_mentions: bool, other_has_mentions: bool
) -> bool:
    if one_has_mentions and other_has_mentions:
        return one == other
    (pieces, _), (plain, _) = (one, other) if one_has_mentions else (other, one)
    return _matches_pieces(pieces, "".join(plain))


def _matches_pieces(pieces: Sequence[str], text: str) -> bool:
    """Return whether a text consists of these pieces, with "@name" or "#name" between any two."""
    first, *others = pieces
    if not others:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    for number, piece in enumerate(others, 1):
        # A name has at least one character.
        begin = at + 2
        position = text.find(piece, begin) if number < len(others) else len(text) - len(piece)
        if (
            text[at : at + 1] not in ("@", "#")
            or position < begin
            or "\n" in text[at:position]
            or not text.startswith(piece, position)
        ):
            return False
        at = position + len(piece)
    return True
