"""Read the error responses of model services."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from recollect.streams.models.chat import OPTIONAL, ChatRequest

_MAX_READ, _MAX_MESSAGE = 20_000, 300
#: The number of consecutive words that count as a quotation of the prompt.
_QUOTATION_WORDS = 3

#: How services name the parameters that they reject.
_SPELLINGS = {
    name: re.compile(rf"(?i)(?<!\w)(?:{spellings})(?!\w)")
    for name, spellings in {
        **{name: name.replace("_", "[ _-]") for name in OPTIONAL},
        "tools": r"tools|functions|(?:tool|function)[ _-](?:call|calls|calling|use|choice)",
    }.items()
}
_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title>")
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>")
_CONTROL = re.compile(r"[^ -~\u00a0-\U0010ffff]+")


class ServiceError(NamedTuple):
    """An error: its message, the parameter that it names, and its status.

    `status`: the one that the body states, or None if it states none.
    """

    message: str
    parameter: str
    status: int | None

    def message_about(self, request: ChatRequest) -> str:
        """Return the message without words that it quotes from the request's conversation."""
        prompt = " ".join(
            str(message["content"]) for message in request.messages if message["role"] != "system"
        )
        prompt_runs = set(_runs(re.findall(r"\w+", prompt.casefold())))
        words = list(re.finditer(r"\w+", self.message))
        runs = _runs([word[0].casefold() for word in words])
        quoted = {
            position + offset
            for position, run in enumerate(runs)
            if run in prompt_runs
            for offset in range(_QUOTATION_WORDS)
        }
        text = self.message
        for position in sorted(quoted, reverse=True):
            text = f"{text[: words[position].start()]}\0{text[words[position].end() :]}"
        return re.sub(r"\0(?:\W*\0)*", "…", text)

    def rejected_parameter(self, sent: Collection[str]) -> str | None:
        """Return the first optional parameter that was sent and that the error names, or None."""
        optional = [name for name in OPTIONAL if name in sent]
        if self.parameter in optional:
            return self.parameter
        rejected = (name for name in optional if _SPELLINGS[name].search(self.message))
        return next(rejected, None)


def read_service_error(content: bytes) -> ServiceError:
    """Read the body of an error response: JSON in the usual forms, HTML, or text."""
    text = content[:_MAX_READ].decode("utf-8", "replace")
    try:
        document = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        title = _TITLE.search(text)
        return ServiceError(_line(_MARKUP.sub(" ", title[1] if title else text)), "", None)
    error = document.get("error") if isinstance(document, dict) else None
    detail = error if isinstance(error, dict) else {}
    code = next(
        (detail[key] for key in ("code", "status") if isinstance(detail.get(key), int)), 502
    )
    return ServiceError(
        _line(" ".join(_messages(document))),
        str(detail.get("param") or ""),
        (code if 400 <= code < 600 else 502) if error else None,
    )


def _messages(value: Any) -> list[str]:
    """Return the messages in an error's JSON; validation errors begin with their field's path."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [message for item in value for message in _messages(item)]
    if not isinstance(value, dict):
        return []
    where = ".".join(str(part) for part in value.get("loc") or ())
    for key in ("error", "message", "msg", "detail", "errors"):
        if messages := _messages(value.get(key)):
            return [f"{where}: {messages[0]}", *messages[1:]] if where else messages
    return []


def _line(text: str) -> str:
    """Return a text as one printable line of limited length."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    return line if len(line) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}…"


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return [
        tuple(words[position : position + _QUOTATION_WORDS])
        for position in range(len(words) - _QUOTATION_WORDS + 1)
    ]
