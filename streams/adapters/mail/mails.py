"""E-mail: converts mails of all formats to events, and reads files and folders of single mails."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import Message
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import MAX_NAME_BYTES, InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.mail.mail_parts import (
    MAX_MAIL_BYTES,
    MailParts,
    Person,
    header,
    headers,
    parse_mail,
    parts_of,
    people,
    time_of,
)
from recollect.streams.system.extras import needed

_PLATFORM = "email"
_MAX_QUOTED_LENGTH = 60_000
_MAX_TEXT_LENGTH = 1 << 20
_MAX_RECIPIENTS = 50
#: How many mails are remembered by id, to tell a copy from another mail with the same id.
_MAX_KNOWN_MAILS = 200_000

_HEADER = re.compile(rb"[!-9;-~]{1,76}:")
_MAIL_HEADERS = frozenset(
    {b"from", b"date", b"received", b"message-id", b"return-path", b"delivered-to", b"to"}
    | {b"mime-version", b"subject", b"x-mailer", b"content-type", b"in-reply-to", b"sender"}
)
_BOUNDARY_LINE = re.compile(rb"From \S+ .*\d{4}\s*$")
_COUNT_LINE = re.compile(rb"\s*(\d{1,10})[ \t]*\r?\n")
_ID = re.compile(r"<([^<>]+)>")
_REPLY = re.compile(
    r"\s*(?:\[[^\]]{1,60}\]\s*)?(?:(?:re|aw|antw?|sv|vs|odp|r|rif|ref|fwd?|wg|tr|rv|enc|回复|答复"
    r"|转发)\s*(?:\[\d+\]|\(\d+\))?\s*[:\uff1a]\s*)+",
    re.IGNORECASE,
)
_AUTOMATIC = re.compile(
    r"(?:auto(?:matic)?[- ]?(?:reply|response)|automatische antwort|out of (?:the )?office|"
    r"abwesenheits|réponse automatique|respuesta automática|risposta automatica|"
    r"automatisch antwoord|undeliverable|delivery (?:status notification|failure|has failed)|"
    r"mail delivery|returned mail|failure notice)",
    re.IGNORECASE,
)
# Gmail's label of drafts, in the languages of its interface.
_DRAFT_LABELS = frozenset(
    {"draft", "drafts", "entwürfe", "entwurf", "brouillons", "brouillon", "borradores", "borrador"}
    | {"bozze", "bozza", "rascunhos", "rascunho", "concepten", "concept", "utkast", "kladder"}
    | {"kladde", "luonnokset", "luonnos", "wersje robocze", "szkice", "kopie robocze", "koncepty"}
    | {"rozepsané", "piszkozatok", "piszkozat", "ciorne", "mesaje nefinalizate", "taslaklar"}
    | {"черновики", "чернетки", "чернови", "нацрти", "nacrti", "skice", "osnutki", "juodraščiai"}
    | {"melnraksti", "mustandid", "drög", "πρόχειρα", "esborranys", "zirriborroak", "rascuños"}
    | {"טיוטות", "المسودات", "مسودات", "ड्राफ़्ट", "ร่างจดหมาย"}
    | {"\u067e\u06cc\u0634\u200c\u0646\u0648\u06cc\u0633\u200c\u0647\u0627"}
    | {"thư nháp", "draf", "下書き", "임시보관함", "草稿"}
)
_APPLE_TYPE = "X-Uniform-Type-Identifier"
_VIA_LIST = re.compile(r"(.+?) via .+", re.IGNORECASE)
_LIST_HEADERS = ("List-Id", "List-Post", "List-Unsubscribe")
_DAEMON = re.compile(r"(?:mailer-daemon|postmaster|mail-daemon|mailerdaemon)(?:@|$)", re.IGNORECASE)
_LIST_TAG = re.compile(r"^\s*((?:re|fwd?|aw)\s*:\s*)*\[[^\]]{1,60}\]\s*", re.IGNORECASE)


def is_mail(start: bytes, name: str) -> bool:
    """Return whether a file begins with headers of a mail."""
    if count_line := _COUNT_LINE.match(start):
        start = start[count_line.end() :]
    fields: set[bytes] = set()
    for number, line in enumerate(start.lstrip(b"\xef\xbb\xbf\r\n\t ").split(b"\n")):
        if not line.strip():
            break
        if line[:1] in (b" ", b"\t") and number:
            continue
        if number == 0 and _BOUNDARY_LINE.match(line):
            continue
        if not _HEADER.match(line):
            # Careless programs write one line that is not a header; texts other than mails have
            # many such lines.
            if len(fields) < 2 or not line.isascii():
                return False
            continue
        field = line.partition(b":")[0].lower()
        if field in _MAIL_HEADERS or field.startswith(b"x-"):
            fields.add(field)
    has_mail_name = name.casefold().endswith((".eml", ".emlx"))
    return len(fields) >= (1 if has_mail_name else 3) and (has_mail_name or b"from" in fields)


class MailConverter:
    """Converts mails to events; distinguishes copies of a mail from other mails with its id."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}

    def events(self, raw: bytes, received_at: datetime | None = None) -> Iterable[InboundEvent]:
        """Return the events of a mail. `received_at`: the time of receipt that its file states.

        Raises:
            InvalidInput: it is not a mail, or its time is unknown.
        """
        mail = parse_mail(raw)
        if not mail.keys():
            raise InvalidInput("not a mail: it has no headers")
        if _is_unsent_or_internal(mail):
            return []
        parts = parts_of(mail)
        event = _event(mail, received_at, parts)
        if parts.has_other_text:
            event = msgspec.structs.replace(event, revisable="changing")
        # Ids do not depend on what earlier builds did not read.
        sent = event
        if parts.has_more:
            sent = _event(mail, received_at, parts_of(mail, as_before=True))
        digest = hashlib.sha256(
            "\x1f".join(
                (
                    sent.sender_id,
                    str(sent.occurred_at),
                    sent.content,
                    _attachment_names(sent),
                    str(sent.peer_id),
                    str(sent.thread_id),
                    str(sent.reply_to),
                )
            ).encode("utf-8", "replace")
        )
        if event.id is None:
            digest = hashlib.sha256(digest.digest() + str(event.metadata.get("subject")).encode())
            return [_with_id(event, f"without-id:{digest.hexdigest()[:32]}")]
        known = self._known.get(event.id)
        if known is None:
            if len(self._known) >= _MAX_KNOWN_MAILS:
                del self._known[next(iter(self._known))]
            self._known[event.id] = digest.digest()[:8]
        elif known != digest.digest()[:8]:
            return [_with_id(event, f"{event.id}:{digest.hexdigest()[:16]}")]
        return [event]


def _with_id(event: InboundEvent, id_: str) -> InboundEvent:
    return msgspec.structs.replace(event, id=id_)


def _attachment_names(event: InboundEvent) -> str:
    return "\x1e".join(f"{one.type}{one.name}{one.size}{one.caption}" for one in event.attachments)


def _is_unsent_or_internal(mail: Message) -> bool:
    """Return whether a mail is a draft, was deleted, or is internal data of a program."""
    if not _labels(mail).isdisjoint(_DRAFT_LABELS):
        return True
    if "internal/draft" in header(mail, "X-Mozilla-Draft-Info") or "T" in header(mail, "X-Status"):
        return True
    if header(mail, "X-Unsent") == "1" or header(mail, _APPLE_TYPE) == "com.apple.mail-draft":
        return True
    try:
        if int(header(mail, "X-Mozilla-Status") or "0", 16) & 0x0008:
            return True
    except ValueError:
        pass
    return "X-IMAP" in mail and "FOLDER INTERNAL DATA" in header(mail, "Subject")


def _labels(mail: Message) -> set[str]:
    """Return the Gmail labels of a mail, in lower case."""
    labels = header(mail, "X-Gmail-Labels").casefold().split(",")
    return {label.strip(' "') for label in labels}


def _event(mail: Message, received_at: datetime | None, parts: MailParts) -> InboundEvent:
    occurred_at = time_of(mail) or received_at
    if occurred_at is None:
        raise InvalidInput(
            "the mail has no usable date: neither Date nor Received has one from 1970 or later"
        )
    # Imported here: only mails need the extra `imports`.
    with needed("imports"):
        from recollect.streams.adapters.mail.mail_body import MailBody, split_body

    sender = _sender(mail)
    subject = header(mail, "Subject")
    if len(parts.text) <= _MAX_TEXT_LENGTH:
        body = split_body(_without_pgp_armour(parts.text), subject)
    else:
        body = MailBody(parts.text)
    notice = _is_notice(mail, subject, sender.address) or bool(parts.calendars)
    attachments = [*parts.files, *(map(_forwarded_mail, () if notice else parts.mails))]
    content = body.own_text
    metadata: dict[str, Any] = {}
    if body.forwarded is not None:
        attachments.append(_forward(*body.forwarded))
    elif body.quoted and not content and not attachments:
        # A mail that consists only of a quotation forwards it.
        attachments.append(_forward(None, body.quoted))
        body = body._replace(quoted="")
    if notice and not content:
        content = "\n".join(filter(None, (subject, *map(_appointment, parts.calendars))))
    if not content and not attachments:
        content = subject or (body.signature if not body.quoted else "")
    to, copied = people(mail, "To"), people(mail, "Cc")
    metadata = {
        "subject": subject,
        "to": [_format_person(one) for one in to[:_MAX_RECIPIENTS]],
        "cc": [_format_person(one) for one in copied[:_MAX_RECIPIENTS]],
        "list": header(mail, "List-Id"),
        "quoted": _truncate(body.quoted),
        "signature": _truncate(body.signature),
    }
    id_ = _ids(header(mail, "Message-ID"))[:1]
    answered = _answered_id(mail)
    peer_id, peer_kind = _peer(sender, [*to, *copied])
    return InboundEvent(
        platform=_PLATFORM,
        id=id_[0] if id_ else None,
        sender_id=sender.address,
        sender_name=_fit_name(sender.name) if sender.name else None,
        occurred_at=occurred_at.isoformat(),
        content=content,
        kind="notice" if notice else "message",
        peer_id=peer_id,
        peer_kind=peer_kind,
        thread_id=_thread(mail, id_, subject, peer_id),
        reply_to=answered,
        attachments=tuple(attachments),
        metadata={key: value for key, value in metadata.items() if value},
    )


def _sender(mail: Message) -> Person:
    if (author := _author_behind_list(mail)) is not None:
        return author
    for name in ("From", "Sender", "Resent-From", "Reply-To", "Return-Path", "X-Sender"):
        for person in people(mail, name):
            if address := _clean_id(person.address):
                return person._replace(address=address)
            if person.name and (name := _clean_id(person.name)):
                return Person(name, person.name)
    return Person("unknown", None)


def _author_behind_list(mail: Message) -> Person | None:
    """Return the author of a mail that a mailing list sends under its own address, or None.

    Lists do so since receivers check who may send for a domain (DMARC): "'Ada' via Boats".
    """
    first = next(iter(people(mail, "From")), None)
    via = _VIA_LIST.fullmatch(first.name) if first is not None and first.name else None
    if via is None or first is None or not any(name in mail for name in _LIST_HEADERS):
        return None
    lists = {one.address for one in people(mail, "To", "Cc", "List-Post", "Sender")}
    if first.address not in lists:
        return None
    name = _clean_id(via[1].strip("\"' "))
    if not name:
        return None
    named = [one for one in people(mail, "Reply-To", "Cc") if _has_name(one, name)]
    for author in (*people(mail, "X-Original-From", "X-Original-Sender"), *named):
        if author.address != first.address:
            return Person(_clean_id(author.address), name)
    # Better the name than the address of the list, under which everybody would be one person.
    return Person(name, name)


def _has_name(person: Person, name: str) -> bool:
    return person.name is not None and person.name.strip("\"' ").casefold() == name.casefold()


def _clean_id(text: str) -> str:
    """Return an id without invisible characters, cut to the maximum length."""
    return _fit_name("".join(one for one in text if one.isprintable()).strip())


def _fit_name(text: str) -> str:
    return text.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip()


def _ids(value: str) -> list[str]:
    """Return the message ids in a header, in order."""
    found = _ID.findall(value)
    if not found and " " not in value.strip():
        found = [value.strip("<>,;")]
    return [id_ for one in found if (id_ := _clean_id("".join(one.split())))]


def _answered_id(mail: Message) -> str | None:
    """Return the id of the mail that this one answers.

    It is the id in In-Reply-To, or the last id in References if In-Reply-To is not among them.
    """
    replied = _ids(header(mail, "In-Reply-To"))
    references = [id_ for one in headers(mail, "References") for id_ in _ids(one)]
    if references and (not replied or replied[0] not in references):
        return references[-1]
    return replied[0] if replied else None


def _thread(mail: Message, own_ids: list[str], subject: str, peer: str | None) -> str | None:
    references = [id_ for one in headers(mail, "References") for id_ in _ids(one)]
    replied = _ids(header(mail, "In-Reply-To"))
    if references or replied:
        return (references or replied)[0]
    if _REPLY.match(subject):
        # A reply without references is threaded by its subject.
        bare = _REPLY.sub("", _LIST_TAG.sub("", subject)).casefold().strip()
        digest = hashlib.sha256(f"{bare}\x1f{peer}".encode("utf-8", "replace")).hexdigest()[:16]
        return f"subject:{digest}" if bare else None
    return own_ids[0] if own_ids else None


def _peer(sender: Person, others: list[Person]) -> tuple[str | None, PeerKind]:
    """Return the peer id and kind.

    The id contains all participants, so that a copy from a mailing list has the same id.
    """
    addresses = sorted({_clean_id(one.address) for one in (sender, *others)} - {""})
    peer = ", ".join(addresses)
    if len(peer.encode()) > MAX_NAME_BYTES:
        peer = f"{len(addresses)} people: {hashlib.sha256(peer.encode()).hexdigest()[:16]}"
    return peer or None, "dm" if len(addresses) <= 2 else "group"


def _format_person(person: Person) -> str:
    return f"{person.name} <{person.address}>" if person.name else person.address


def _is_notice(mail: Message, subject: str, sender: str) -> bool:
    """Return whether a mail is spam or automatic: a bounce, an auto-reply, an invitation."""
    kind = mail.get_content_type()
    if kind in ("multipart/report", "text/calendar", "message/delivery-status"):
        return True
    automatic = header(mail, "Auto-Submitted").partition(";")[0].strip().casefold()
    if automatic and automatic != "no":
        return True
    if header(mail, "Precedence").casefold() in ("auto_reply", "auto-reply"):
        return True
    if "spam" in _labels(mail) or header(mail, "X-Spam-Flag").strip().casefold() == "yes":
        # No facts must be extracted from spam.
        return True
    if any(name in mail for name in ("X-Autoreply", "X-Autorespond", "X-Auto-Reply")):
        return True
    if "X-Failed-Recipients" in mail or _DAEMON.match(sender):
        return True
    return bool(_AUTOMATIC.match(subject))


def _appointment(text: str) -> str:
    """Return the summary, start and location of a calendar text."""
    unfolded = re.sub(r"\r?\n[ \t]", "", text)
    found: list[str] = []
    for name in ("SUMMARY", "DTSTART", "LOCATION"):
        if value := re.search(rf"^{name}(?:;[^:\n]*)?:(.+)$", unfolded, re.MULTILINE):
            text_ = value.group(1).strip().replace("\\,", ",").replace("\\;", ";")
            found.append(text_.replace("\\n", " ").replace("\\N", " "))
    return ", ".join(found)


def _forward(author: str | None, body: str) -> Attachment:
    return Attachment(
        type="forward", name=_fit_name(author) if author else None, caption=_truncate(body)
    )


def _forwarded_mail(mail: Message) -> Attachment:
    people_ = people(mail, "From", "Sender")
    body = _truncate(parts_of(mail).text) or header(mail, "Subject")
    return _forward(_format_person(people_[0]) if people_ else None, body)


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED_LENGTH else text[:_MAX_QUOTED_LENGTH] + "…"


def _without_pgp_armour(text: str) -> str:
    """Return a text without PGP's signature armour."""
    if "-----BEGIN PGP SIGNED MESSAGE-----" not in text:
        return text
    text = re.sub(r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Z][\w-]*: .*\n)*\n?", "", text)
    text = re.sub(r"-----BEGIN PGP SIGNATURE-----[^-]*-----END PGP SIGNATURE-----\n?", "", text)
    return re.sub(r"^- (?=-)", "", text, flags=re.MULTILINE)


def read_mail(entry: InputEntry) -> bytes:
    """Return the bytes of the mail in a file, up to `MAX_MAIL_BYTES`."""
    with entry.open() as file:
        raw = file.read(MAX_MAIL_BYTES)
    raw = raw.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if found := _COUNT_LINE.match(raw):
        # Apple Mail writes the length of the mail, the mail, and metadata of its own.
        raw = raw[found.end() : found.end() + int(found.group(1))]
    return raw


class MailFiles(ExportSource):
    """Files that hold one mail each, in order of their names."""

    def __init__(self, entries: Iterable[tuple[InputEntry, datetime | None]]) -> None:
        self._members = entries

    def parts(self) -> Iterator[ExportFile]:
        converter = MailConverter()
        for entry, received_at in self._members:
            yield ExportFile(entry.path, _parse(entry, converter, received_at))


def _parse(
    entry: InputEntry, converter: MailConverter, received_at: datetime | None
) -> Iterator[tuple[int, ParseResult]]:
    def numbered() -> Iterator[tuple[int, bytes]]:
        yield 1, read_mail(entry)

    yield from convert(numbered(), lambda raw: converter.events(raw, received_at))


def _mail_members(folder: Folder) -> Iterator[tuple[InputEntry, datetime | None]]:
    for name in folder.files():
        if not name.startswith("."):
            yield folder.file(name), None
    for name in folder.folders():
        if not name.startswith(".") and name != "__MACOSX":
            yield from _mail_members(folder.folder(name))


def _holds_only_mails(folder: Folder, depth: int = 0) -> bool | None:
    """Return whether all files in a folder and its subfolders are mails; None if there are none."""
    if depth > 16:
        return False
    names = [name for name in folder.files() if not name.startswith(".")]
    if any(not name.casefold().endswith((".eml", ".emlx")) for name in names):
        return False
    has_mails = bool(names) or None
    for name in folder.folders():
        if name.startswith(".") or name == "__MACOSX":
            continue
        subfolder = _holds_only_mails(folder.folder(name), depth + 1)
        if subfolder is False:
            return False
        has_mails = has_mails or subfolder
    return has_mails


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return MailFiles([(entry, None)])


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    return MailFiles(_mail_members(folder))


def from_unix_seconds(seconds: int) -> datetime:
    """Convert unix seconds to a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


ADAPTER = Adapter(
    "email",
    is_mail,
    _read,
    recognises_folder=lambda folder: bool(_holds_only_mails(folder)),
    read_folder=_read_folder,
)
