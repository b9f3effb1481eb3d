"""X (formerly Twitter): the direct messages of an account's archive, of two people and of groups.

Each file assigns JSON to a variable of JavaScript. Conversations have the newest messages first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
    read_all,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import (
    DamagedInput,
    InputEntry,
    UncountedInput,
)
from recollect.streams.adapters.input.json_documents import as_words, items
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES

_PLATFORM = "twitter"
_ASSIGNMENT = re.compile(rb"\s*window\.YTD\.direct_messages?(?:_group)?\.part\d+\s*=\s*")
_FILE = re.compile(r"direct-messages?(?:-group)?(?:-part\d+)?\.js\Z")
_ACCOUNT = "account.js"
_MESSAGE = "messageCreate"
_SHORT_LINK = re.compile(r"https?://t\.co/\w+")
# Parts of the text that X writes in HTML.
_ESCAPED = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


class _JsonOf(UncountedInput):
    """The JSON that a file assigns to a variable."""

    def open(self, *, uncounted: bool = False) -> BinaryIO:
        file = super().open(uncounted=uncounted)
        # The bytes before the value; JSON may begin in any of them.
        while (byte := file.read(1)) and byte != b"=":
            pass
        return file


class _Item(NamedTuple):
    """An item of a conversation: a message, or what happened."""

    conversation: str
    kind: str
    fields: Mapping[str, Any]


def _recognises(start: bytes, name: str) -> bool:
    return _ASSIGNMENT.match(start.removeprefix(BYTE_ORDER_MARK)) is not None


def _is_folder(folder: Folder) -> bool:
    return any(
        _recognises(folder.file(name).start(), name) for name in folder.files() if _FILE.match(name)
    )


class _Archive(ExportSource):
    """Files with conversations. `account`: the file about the owner of the archive."""

    def __init__(self, entries: Sequence[InputEntry], account: InputEntry | None = None) -> None:
        self._entries = entries
        self._account = account

    def parts(self) -> Iterator[ExportFile]:
        names: dict[str, str] = {}
        if self._account is not None:
            try:
                names = _owner(self._account)
            except DamagedInput as error:
                yield ExportFile(self._account.path, iter([(1, error)]))
        for entry in self._entries:
            yield ExportFile(entry.path, _parse(entry, names))


def _owner(account: InputEntry) -> dict[str, str]:
    """Return the name of the archive's owner by their id; empty if the file lacks them."""
    for _, found in items(_JsonOf(account), "item.account"):
        if isinstance(found, dict) and found.get("accountId"):
            name = found.get("accountDisplayName") or found.get("username")
            return {str(found["accountId"]): str(name)} if name else {}
    return {}


def _parse(entry: InputEntry, names: Mapping[str, str]) -> Iterator[tuple[int, ParseResult]]:
    for number, conversation in items(_JsonOf(entry), "item.dmConversation"):
        found = read_all(_items, conversation)
        if isinstance(found, InvalidInput):
            yield number, found
            continue
        yield from convert(((number, one) for one in found), _Conversation(names).events)


def _items(conversation: Mapping[str, Any]) -> Iterator[_Item]:
    """Yield the items of a conversation, the oldest first."""
    id_ = str(conversation["conversationId"])
    for one in reversed(conversation["messages"]):
        kind, fields = next(iter(one.items()))
        yield _Item(id_, kind, fields)


class _Conversation:
    """Converts the items of a conversation, in order. `names`: of people, by id."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._title = ""

    def events(self, item: _Item) -> Iterator[InboundEvent]:
        """Yield the events of an item: a message and its reactions, or a notice."""
        conversation, kind, fields = item
        peer_kind: PeerKind = "dm" if "-" in conversation else "group"
        at = str(fields["createdAt"])
        if kind == "conversationNameUpdate":
            self._title = str(fields.get("name") or "")
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "peer_id": conversation,
            "peer_kind": peer_kind,
        }
        metadata = {"channel": self._title} if self._title else {}
        if kind != _MESSAGE:
            yield InboundEvent(
                **common,
                **self._person(fields.get("initiatingUserId") or next(_people(fields), "unknown")),
                kind="notice",
                id=f"{conversation}:{kind}:{at}",
                occurred_at=at,
                content=": ".join(filter(None, (as_words(kind), self._details(fields)))),
                metadata=metadata,
            )
            return
        id_ = str(fields["id"])
        yield InboundEvent(
            **common,
            **self._person(fields["senderId"]),
            id=id_,
            occurred_at=at,
            content=_text(fields),
            attachments=tuple(_attachments(fields)),
            metadata=metadata,
        )
        for reaction in fields.get("reactions") or ():
            sender, key = str(reaction["senderId"]), str(reaction["reactionKey"])
            yield InboundEvent(
                **common,
                **self._person(sender),
                kind="reaction",
                id=f"{id_}:reaction:{sender}:{key}",
                target=id_,
                occurred_at=str(reaction.get("createdAt") or at),
                content=key.removeprefix("emoji:"),
            )

    def _person(self, id_: object) -> dict[str, Any]:
        return {"sender_id": str(id_), "sender_name": self._names.get(str(id_))}

    def _details(self, fields: Mapping[str, Any]) -> str:
        """Return whom or what a notice is about: a new name, or the members."""
        people = (self._names.get(one, one) for one in _people(fields))
        return str(fields.get("name") or "") or ", ".join(people)


def _people(fields: Mapping[str, Any]) -> Iterator[str]:
    for key in ("userIds", "participantsSnapshot"):
        yield from map(str, fields.get(key) or ())


def _text(fields: Mapping[str, Any]) -> str:
    """Return a message's text, with the addresses to which its links lead."""
    text = str(fields.get("text") or "")
    for escaped, character in _ESCAPED:
        text = text.replace(escaped, character)
    addresses = {
        str(link["url"]): str(link["expanded"])
        for link in fields.get("urls") or ()
        if link.get("url") and str(link.get("expanded")).startswith("http")
    }
    room = MAX_MESSAGE_BYTES - len(text)

    def address(found: re.Match[str]) -> str:
        nonlocal room
        longer = addresses.get(found[0], found[0])
        room -= len(longer)
        return longer if room >= 0 else found[0]

    return _SHORT_LINK.sub(address, text).strip()


def _attachments(fields: Mapping[str, Any]) -> Iterator[Attachment]:
    for address in fields.get("mediaUrls") or ():
        name = str(address).partition("?")[0].rpartition("/")[2]
        yield Attachment(type=attachment_type(name), name=name or None, url=str(address))


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    files = folder.files()
    entries = [folder.file(name) for name in files if _FILE.match(name)]
    return _Archive(entries, folder.file(_ACCOUNT) if _ACCOUNT in files else None)


ADAPTER = Adapter(
    _PLATFORM, _recognises, lambda entry, options: _Archive([entry]), _is_folder, _read_folder
)
