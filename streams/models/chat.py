"""Chat completions with tools: what is asked, and what comes back, as OpenAI's protocol says it."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that a model calls: the call's id, the tool's name, its arguments as they came."""

    id: str
    name: str
    arguments: str


class ChatAnswer(msgspec.Struct, frozen=True):
    """What a model answered: words, calls of tools, and the tokens of question and answer.

    `model`: the account's. `finish`: why it ended, as the service says it.
    """

    text: str
    calls: tuple[ToolCall, ...]
    finish: str
    model: str
    tokens_in: int
    tokens_out: int


class ChatQuestion(msgspec.Struct, frozen=True):
    """What a model is asked: messages and tools, as the protocol has them."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()

    def canonical(self, model: str) -> bytes:
        """Return the bytes that are the same for the same question to the same model."""
        return _canonical.encode([model, self.messages, self.tools])

    def body(self, model: str, answer_tokens: int) -> bytes:
        """Return what is sent."""
        sent: dict[str, Any] = {
            "model": model,
            "messages": self.messages,
            "temperature": 0,
            "max_tokens": answer_tokens,
        }
        if self.tools:
            sent |= {"tools": self.tools, "tool_choice": "auto"}
        return msgspec.json.encode(sent)


class NotChat(Exception):
    """What came is no chat completion."""


_canonical = msgspec.json.Encoder(order="sorted")
#: A model that calls more than this at once is not listened to further.
_MAX_CALLS = 64


def read_answer(body: bytes, model: str, asked_bytes: int) -> ChatAnswer:
    """Return the answer in a body; where it does not say its tokens they are estimated.

    Raises:
        NotChat: the body is no chat completion.
    """
    try:
        found = msgspec.json.decode(body)
        choice = found["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        calls = tuple(
            ToolCall(
                str(call.get("id") or f"call_{place}"),
                str(call["function"]["name"]),
                _arguments(call["function"].get("arguments")),
            )
            for place, call in enumerate((message.get("tool_calls") or [])[:_MAX_CALLS])
        )
        if not isinstance(text, str):
            text = "".join(str(part.get("text", "")) for part in text)
        usage = found.get("usage") or {}
        tokens_in = _count(usage.get("prompt_tokens"), asked_bytes)
        tokens_out = _count(usage.get("completion_tokens"), len(body))
        finish = str(choice.get("finish_reason") or "")
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        raise NotChat(f"{type(error).__name__}") from None
    return ChatAnswer(_scalar(text), calls, finish, model, tokens_in, tokens_out)


def estimated_tokens(byte_count: int) -> int:
    """Return about how many tokens a text of so many bytes has."""
    return byte_count // 3 + 1


def _arguments(given: Any) -> str:
    if isinstance(given, str):
        return _scalar(given)
    # Some services give the object itself.
    return msgspec.json.encode(given).decode()


def _scalar(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no record can hold."""
    return text.encode("utf-8", "replace").decode()


def _count(said: Any, byte_count: int) -> int:
    known = isinstance(said, int) and not isinstance(said, bool) and 0 <= said < 2**31
    return said if known else estimated_tokens(byte_count)
