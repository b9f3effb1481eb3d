"""Gemini's chats in a Google Takeout: "My Activity" as JSON, formerly of Bard.

Each record is a prompt and the answer to it. Conversations are not exported, nor ids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.assistants.assistant_chats import message_event
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    USER,
    dict_or_empty,
    list_or_empty,
    parse_time,
    text_or_none,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items
from recollect.streams.adapters.mail.html_text import text_of_html

_PLATFORM = "gemini"
_NAME = "Gemini"
# The product is named alike in all languages, but for hyphens: "Gemini Apps", "Gemini-Apps".
_HEADER = re.compile(
    rb'\A\s*\[\s*\{\s*"header"\s*:\s*"(?:Gemini|Bard|Applications Gemini|Apps de G)'
)
# What Google puts before a prompt, in English; other languages have other words.
_PROMPTED = re.compile(r"Prompted\s+")
_FILE_MARK = re.compile(r"-\s*")


def _recognises(start: bytes, name: str) -> bool:
    return _HEADER.match(start.removeprefix(BYTE_ORDER_MARK)) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    records = ((number, dict_or_empty(one)) for number, one in items(entry, "item"))
    answered: set[str] = set()
    return convert(records, lambda record: _events(record, answered))


def _events(record: Mapping[str, Any], answered: set[str]) -> Iterator[InboundEvent]:
    """Yield the prompt of a record and its answer, or a notice of another activity.

    `answered`: the ids of the prompts that have an answer already; their other drafts are left out.
    """
    at = parse_time(record.get("time"))
    title = text_or_none(record.get("title")) or ""
    answers = [
        text
        for one in list_or_empty(record.get("safeHtmlItem"))
        if (text := text_of_html(str(dict_or_empty(one).get("html") or "")))
    ]
    prompt = _PROMPTED.sub("", title, count=1) if _PROMPTED.match(title) else title
    # One time may have several records: the drafts of an answer.
    id_ = hashlib.sha256(f"{record.get('time')}\x1f{title}".encode("utf-8", "replace")).hexdigest()
    id_ = id_[:32]
    asked = message_event(
        _PLATFORM, USER, prompt, at, id=id_, chat=None, turn=id_, attachments=tuple(_files(record))
    )
    if not answers and prompt == title:
        # Feedback, or an answer that was chosen.
        if title:
            yield msgspec.structs.replace(asked, kind="notice", direction=None)
        return
    if answers and id_ in answered:
        return
    yield asked
    if answers:
        answered.add(id_)
        yield message_event(
            _PLATFORM,
            ASSISTANT,
            "\n\n".join(answers),
            at,
            id=f"{id_}:answer",
            chat=None,
            turn=id_,
            name=_NAME,
            reply_to=id_,
        )


def _files(record: Mapping[str, Any]) -> Iterator[Attachment]:
    """Yield the files that were attached to a prompt; their names follow a count."""
    for one in list_or_empty(record.get("subtitles"))[1:]:
        if name := text_or_none(dict_or_empty(one).get("name")):
            name = _FILE_MARK.sub("", name, count=1)
            yield Attachment(type=attachment_type(name), name=name)


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse)


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
