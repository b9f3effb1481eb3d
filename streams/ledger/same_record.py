"""Whether two payloads with one id are the same record of a source.

Importers change, and exports differ in what they contain, so the same record may be read in
different ways. Such differences are no conflict; what was read first stays.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

import msgspec

from recollect.schemas.events import (
    PACKED_MAIL,
    Changeable,
    Command,
    Content,
    Message,
    SystemNotice,
)
from recollect.schemas.ids import is_content_source_id
from recollect.schemas.mentioned_users import same_but_names, without_texts

# Fields that deduplication ignores: the sender's display name, the exporter's metadata, and the
# time zone in which a time is written. It also ignores the name of a forwarded message's author,
# and when a text was revised.
_NON_IDENTITY_FIELDS: dict[str, object] = {"sender_name": None, "metadata": {}, "utc_offset": 0}
_PLACE_FIELDS = (
    *("sender_id", "peer_id", "peer_kind", "thread_id", "session_id", "direction", "reply_to"),
)
# The address of a link in a text.
_ADDRESS = re.compile(r" <[^<>\s]{1,2000}>")


def place_of(content: Content) -> list[object]:
    """Return the sender and the conversation of a message."""
    return [getattr(content, name) for name in _PLACE_FIELDS]


def same_record(platform: str, one: object, other: object) -> bool:
    """Return whether `one` repeats `other`, which is known by the same id on this platform."""
    if isinstance(one, Command) and isinstance(other, Command):
        # A repeated command is a duplicate, whoever gives it.
        return one == msgspec.structs.replace(other, given_by=one.given_by)
    if not isinstance(one, Content) or not isinstance(other, Content):
        return one == other
    return (
        _comparable(one) == _comparable(other)
        or _same_but_names(one, other)
        or _is_reclassified(_comparable(one), _comparable(other))
        or _is_unpacked(one, other)
        or _has_more_addresses(one, other)
        or _is_moved(platform, one, other)
    )


def _comparable(content: Content) -> Content:
    """Return a message without the fields that deduplication ignores, such as display names."""
    attachments = tuple(
        msgspec.structs.replace(
            one, name=None if one.type == "forward" or one.name is None else unquote(one.name)
        )
        for one in content.attachments
    )
    if isinstance(content, Changeable):
        content = msgspec.structs.replace(content, revised_at=None)
    return msgspec.structs.replace(content, attachments=attachments, **_NON_IDENTITY_FIELDS)


def _same_but_names(one: Content, other: Content) -> bool:
    return same_but_names(one, other) and (
        _comparable(without_texts(one)) == _comparable(without_texts(other))
    )


def _is_reclassified(one: Content, other: Content) -> bool:
    """Return whether two texts without ids are equal, but one is a message and one is a notice.

    A newer importer may recognise a text as its program's own notice. The id, which is derived from
    the text, stays the same.
    """
    if not isinstance(one, Message | SystemNotice) or not isinstance(other, Message | SystemNotice):
        return False
    if not is_content_source_id(one.source_id):
        return False
    return all(getattr(one, name) == getattr(other, name) for name in Content.__struct_fields__)


def _is_unpacked(one: Content, other: Content) -> bool:
    """Return whether `one` is the mail `other` with what its `winmail.dat` contains.

    A newer importer unpacks it: it gives the files, and the text if the mail has no other.
    """
    kept = [file for file in other.attachments if file.mime_type not in PACKED_MAIL]
    remaining = iter(one.attachments)
    return (
        len(kept) < len(other.attachments)
        and not any(file.mime_type in PACKED_MAIL for file in one.attachments)
        and all(file in remaining for file in kept)
        and place_of(one) == place_of(other)
    )


def _has_more_addresses(one: Content, other: Content) -> bool:
    """Return whether a text differs from `other` only in that it has the addresses of links.

    A newer importer keeps them, in angle brackets after the words of a link.
    """
    return _without_addresses(one) == _without_addresses(other) and len(one.content) >= len(
        other.content
    )


def _without_addresses(content: Content) -> Content:
    attachments = tuple(
        msgspec.structs.replace(file, caption=_ADDRESS.sub("", file.caption))
        if file.caption
        else file
        for file in content.attachments
    )
    text = _ADDRESS.sub("", content.content)
    return _comparable(msgspec.structs.replace(content, content=text, attachments=attachments))


def _is_moved(platform: str, one: Content, other: Content) -> bool:
    """Return whether two messages differ only in how exactly an export names their place."""
    if platform == "telegram":
        return _is_in_topic(one, other) or _is_in_topic(other, one)
    if platform == "matrix":
        return _is_poll(one, other)
    return platform == "discord" and _is_numbered(one, other)


def _is_in_topic(one: Content, other: Content) -> bool:
    """Return whether `one` is `other` in a topic of a group.

    An export of a span of time may lack the record that created the topic. Then its messages are in
    no topic, and those that begin no conversation of their own seem to answer that record.
    """
    if one.thread_id is None or other.thread_id is not None:
        return False
    answered = other.reply_to if other.reply_to == one.thread_id else one.reply_to
    return _comparable(
        msgspec.structs.replace(one, thread_id=None, reply_to=answered)
    ) == _comparable(other)


def _is_poll(one: Content, other: Content) -> bool:
    """Return whether `other` is the poll `one` as builds read it that took polls for notices."""
    is_poll = any(file.type == "poll" for file in one.attachments)
    is_notice = isinstance(other, SystemNotice) and other.content.startswith("Poll: ")
    return is_poll and is_notice and place_of(one) == place_of(other)


def _is_numbered(one: Content, other: Content) -> bool:
    """Return whether `other` is `one` as builds read it that did not know the numbers of types.

    They gave the number as the words of a notice, and took a thread for a channel.
    """
    if isinstance(one, SystemNotice) and other.content.isdecimal():
        one = msgspec.structs.replace(one, content=other.content)
    if one.thread_id == other.peer_id and other.thread_id is None:
        one = msgspec.structs.replace(one, peer_id=other.peer_id, thread_id=None)
    return _comparable(msgspec.structs.replace(one, peer_kind=other.peer_kind)) == _comparable(
        other
    )
