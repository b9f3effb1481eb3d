"""Requests and completions of OpenAI's chat protocol, with tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import msgspec

from recollect.streams.models.written_calls import (
    Schemas,
    calls_in_text,
    plain_arguments,
    schemas_of,
    tool_named,
)


class ToolCall(msgspec.Struct, frozen=True):
    """A model's call of a tool; `arguments` is the JSON text of an object, unless malformed."""

    id: str
    name: str
    arguments: str


class ChatCompletion(msgspec.Struct, frozen=True):
    """A model's reply: its text, its tool calls, and the token counts of prompt and completion.

    `model`: the model's name in the account. `finish`: the service's finish reason.
    """

    text: str
    calls: tuple[ToolCall, ...]
    finish: str
    model: str
    tokens_in: int
    tokens_out: int

    @property
    def unusable(self) -> str | None:
        """The reason why the reply cannot be used, or None if it has calls or is complete."""
        if self.calls:
            return None
        if self.finish.casefold() in _CUT_OFF:
            return (
                f"was cut off before it called a tool (finish reason {self.finish!r}, "
                f"{self.tokens_out:,} tokens); raise model.answer_tokens"
            )
        if self.finish.casefold() in _WITHHELD:
            return f"was withheld by the service (finish reason {self.finish!r})"
        return None


class ChatRequest(msgspec.Struct, frozen=True):
    """The messages and tools of a request, in the protocol's form."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()

    def canonical(self, model: str) -> bytes:
        """Return a canonical encoding, equal for equal requests to the same model."""
        return _canonical.encode([model, self.messages, self.tools])

    def body(self, model: str, max_tokens: int, without: Set[str] = frozenset()) -> bytes:
        """Return the body of the HTTP request, leaving out the `OPTIONAL` parameters in `without`.

        If it leaves out `tools`, the messages describe the tools instead.
        """
        sent: dict[str, Any] = {"model": model, "messages": self.messages, "temperature": 0}
        # OpenAI's newer models accept only `max_completion_tokens`.
        limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        sent[limit] = max_tokens
        if self.tools and "tools" in without:
            sent["messages"] = _with_tools_as_text(self.messages, self.tools)
        elif self.tools:
            sent |= {"tools": self.tools, "tool_choice": "auto"}
        return msgspec.json.encode({name: sent[name] for name in sent if name not in without})


class InvalidCompletion(Exception):
    """The response is not a chat completion."""


#: The parameters that are left out if a service rejects them.
OPTIONAL = ("max_tokens", "max_completion_tokens", "temperature", "tool_choice", "tools")
#: Finish reasons of answers that reached a limit, and of answers that the service withheld.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
_WITHHELD = frozenset({"content_filter", "safety", "recitation", "prohibited_content", "error"})

_canonical = msgspec.json.Encoder(order="sorted")
#: The maximum number of tool calls in a completion; further ones are dropped.
_MAX_CALLS = 64


def parse_completion(
    body: bytes, model: str, request_bytes: int, tools: Sequence[Mapping[str, Any]] = ()
) -> ChatCompletion:
    """Return the completion in a response's body; missing token counts are estimated.

    If the completion has no tool calls, calls of `tools` that the model wrote as text are used.

    Raises:
        InvalidCompletion: the body is not a chat completion.
    """
    schemas = schemas_of(tools)
    try:
        completion = msgspec.json.decode(body)
        choice = completion["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        if not isinstance(text, str):
            text = "".join(str(part.get("text", "")) for part in text)
        text = _without_surrogates(text)
        calls = _calls_in(message, schemas)
        finish = str(choice.get("finish_reason") or "")
        if finish.casefold() in _CUT_OFF and calls and not _is_object(calls[-1].arguments):
            calls = calls[:-1]
        usage = completion.get("usage") or {}
        tokens_in = _count(usage.get("prompt_tokens"), request_bytes)
        tokens_out = _count(usage.get("completion_tokens"), len(body))
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        raise InvalidCompletion(f"{type(error).__name__}") from None
    if not calls:
        written = calls_in_text(text, schemas)[:_MAX_CALLS]
        calls = tuple(
            ToolCall(f"call_{position}", name, _without_surrogates(arguments))
            for position, (name, arguments) in enumerate(written)
        )
    return ChatCompletion(text, calls, finish, model, tokens_in, tokens_out)


def _calls_in(message: Mapping[str, Any], schemas: Schemas) -> tuple[ToolCall, ...]:
    """Return a message's tool calls, given in the protocol's current or older form."""
    raw_calls = list(message.get("tool_calls") or [])
    if not raw_calls and message.get("function_call"):
        raw_calls = [{"function": message["function_call"]}]
    calls = []
    for position, call in enumerate(raw_calls[:_MAX_CALLS]):
        name = tool_named(str(call["function"]["name"]), schemas)
        arguments = plain_arguments(call["function"].get("arguments"), schemas.get(name, {}))
        id_ = str(call.get("id") or f"call_{position}")
        calls.append(ToolCall(id_, name, _without_surrogates(arguments)))
    return tuple(calls)


def _with_tools_as_text(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return messages for a service without tool support: tools, calls and results as text."""
    definitions = msgspec.json.encode([tool["function"] for tool in tools]).decode()
    instructions = (
        f"\n\nTools\n{definitions}\nTo call tools, answer with nothing but a JSON list: "
        '[{"name": "...", "arguments": {...}}]'
    )
    plain: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "tool":
            plain.append({"role": "user", "content": f"<result>\n{content}\n</result>"})
        elif calls := message.get("tool_calls"):
            functions = [call["function"] for call in calls]
            plain.append({"role": "assistant", "content": msgspec.json.encode(functions).decode()})
        elif message["role"] == "system":
            plain.append({"role": "system", "content": content + instructions})
        else:
            plain.append({"role": message["role"], "content": content})
    return plain


def estimated_tokens(byte_count: int) -> int:
    """Estimate the number of tokens in a text of `byte_count` bytes."""
    return byte_count // 3 + 1


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


def _count(value: Any, byte_count: int) -> int:
    valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if valid else estimated_tokens(byte_count)
