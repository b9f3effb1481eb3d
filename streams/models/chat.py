"""Requests and completions of OpenAI's chat protocol, with tool calls."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """A model's call of a tool; `arguments` is the JSON text as received."""

    id: str
    name: str
    arguments: str


class ChatCompletion(msgspec.Struct, frozen=True):
    """A model's reply: text, tool calls, and the tokens of prompt and completion.

    `model`: that of the account. `finish`: the service's finish reason.
    """

    text: str
    calls: tuple[ToolCall, ...]
    finish: str
    model: str
    tokens_in: int
    tokens_out: int


class ChatRequest(msgspec.Struct, frozen=True):
    """The messages and tools of a request, in the protocol's form."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()

    def canonical(self, model: str) -> bytes:
        """Return a canonical encoding, equal for equal requests to the same model."""
        return _canonical.encode([model, self.messages, self.tools])

    def body(self, model: str, max_tokens: int) -> bytes:
        """Return the HTTP request's body."""
        sent: dict[str, Any] = {
            "model": model,
            "messages": self.messages,
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        if self.tools:
            sent |= {"tools": self.tools, "tool_choice": "auto"}
        return msgspec.json.encode(sent)


class InvalidCompletion(Exception):
    """The response is not a chat completion."""


_canonical = msgspec.json.Encoder(order="sorted")
#: Further tool calls in one completion are dropped.
_MAX_CALLS = 64


def parse_completion(body: bytes, model: str, request_bytes: int) -> ChatCompletion:
    """Return the completion in a response's body; missing token counts are estimated.

    Raises:
        InvalidCompletion: the body is not a chat completion.
    """
    try:
        found = msgspec.json.decode(body)
        choice = found["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        calls = tuple(
            ToolCall(
                str(call.get("id") or f"call_{position}"),
                str(call["function"]["name"]),
                _arguments(call["function"].get("arguments")),
            )
            for position, call in enumerate((message.get("tool_calls") or [])[:_MAX_CALLS])
        )
        if not isinstance(text, str):
            text = "".join(str(part.get("text", "")) for part in text)
        usage = found.get("usage") or {}
        tokens_in = _count(usage.get("prompt_tokens"), request_bytes)
        tokens_out = _count(usage.get("completion_tokens"), len(body))
        finish = str(choice.get("finish_reason") or "")
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        raise InvalidCompletion(f"{type(error).__name__}") from None
    return ChatCompletion(_scalar(text), calls, finish, model, tokens_in, tokens_out)


def estimated_tokens(byte_count: int) -> int:
    """Estimate the number of tokens in a text of `byte_count` bytes."""
    return byte_count // 3 + 1


def _arguments(given: Any) -> str:
    if isinstance(given, str):
        return _scalar(given)
    # Some services send the object itself, not its JSON text.
    return msgspec.json.encode(given).decode()


def _scalar(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def _count(value: Any, byte_count: int) -> int:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if valid else estimated_tokens(byte_count)
