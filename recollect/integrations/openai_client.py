"""An OpenAI client with a zone as the memory of its conversations (extra `openai`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from recollect import DecisionTimeout, RecollectError, Zone, needed
from recollect.integrations.thoughts import strip_reasoning

with needed("openai"):
    from openai import AsyncOpenAI, OpenAI

Client = TypeVar("Client", OpenAI, AsyncOpenAI)

_SYSTEM = ("system", "developer")
_TEXTS = ("text", "input_text", "output_text")

_log = logging.getLogger("recollect")


def with_memory(
    client: Client,
    zone: Zone,
    *,
    user_id: str = "user",
    user_name: str | None = None,
    session_id: str | None = None,
    max_tokens: int | None = None,
    platform: str = "openai",
) -> Client:
    """Return a copy of a client that adds memories to prompts, and stores the conversation.

    `chat.completions` and `responses` look up the context for the user's last message, and add it,
    marked as data, to the system message; often it is empty. `max_tokens`: the maximum length of
    the context. Once the model has answered, the user's messages since its previous answer and the
    answer itself are stored as one turn of a session; reasoning is left out. A streamed answer is
    stored when it has been read to its end. If the memory fails, the model answers without it, and
    a warning is logged. The given client is not changed; copies of the returned one use the memory
    too.
    """
    memory = _Memory(
        zone,
        user={"sender_id": user_id, "sender_name": user_name},
        session_id=session_id or uuid4().hex,
        max_tokens=max_tokens,
        platform=platform,
    )
    return _use_memory(client.copy(), memory)


def _use_memory(client: Client, memory: _Memory) -> Client:
    """Make a client and its copies use a memory."""
    wrapped = _async_call if isinstance(client, AsyncOpenAI) else _call
    for resource, shape in ((client.chat.completions, _Chat()), (client.responses, _Responses())):
        for name in ("create", "parse"):
            setattr(resource, name, wrapped(getattr(resource, name), shape, memory))
    copy: Callable[..., Client] = client.copy

    def remembering_copy(**options: Any) -> Client:
        return _use_memory(copy(**options), memory)

    for name in ("copy", "with_options"):
        setattr(client, name, remembering_copy)
    return client


class _Memory:
    """The memory of one client's conversations."""

    def __init__(
        self,
        zone: Zone,
        *,
        user: dict[str, str | None],
        session_id: str,
        max_tokens: int | None,
        platform: str,
    ) -> None:
        self._memory_zone = zone
        self._user = user
        self._session_id = session_id
        self._options = {} if max_tokens is None else {"max_tokens": max_tokens}
        self._platform = platform

    def block(self, texts: Sequence[str]) -> str:
        """Return the context block for the last of some texts; "" if the memory fails."""
        if not texts:
            return ""
        try:
            return self._memory_zone.context(texts[-1], **self._options).block
        except RecollectError as error:
            _log.warning("no memories are added to the prompt: %s", type(error).__name__)
            return ""

    def store(self, texts: Sequence[str], answer: str) -> None:
        """Store the user's messages and the model's answer as one turn."""
        turn = uuid4().hex
        events = [self._event(turn, text, direction="in", **self._user) for text in texts]
        events.append(
            self._event(turn, strip_reasoning(answer), direction="out", sender_id="assistant")
        )
        events = [event for event in events if event["content"].strip()]
        now = datetime.now(UTC)
        for index, event in enumerate(events):
            at = now + timedelta(milliseconds=index)
            event["occurred_at"] = at.isoformat(timespec="milliseconds")
        if not events:
            return
        # Without this, the turn would stay open, and its facts would be extracted only after some
        # time.
        events[-1]["kind"] = "turn_completed"
        try:
            self._memory_zone.ingest(events)
        except DecisionTimeout:
            # The turn is stored, and the service decides it later.
            _log.info("a turn is stored, but not processed yet")
        except RecollectError as error:
            _log.warning("a turn was not stored: %s", type(error).__name__)

    def _event(self, turn: str, text: str, **fields: Any) -> dict[str, Any]:
        return {
            "platform": self._platform,
            "id": f"{self._platform}-{uuid4().hex}",
            "session_id": self._session_id,
            "turn_id": turn,
            "content": text,
            **fields,
        }


class _Chat:
    """Requests and answers of chat completions."""

    def user_texts(self, arguments: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return the texts of all user messages, and of those since the model's last answer."""
        return _texts_of_user(_list(arguments.get("messages")))

    def with_block(self, arguments: dict[str, Any], block: str) -> dict[str, Any]:
        """Return the arguments with a block in the system message."""
        messages = _list(arguments.get("messages"))
        for index, message in enumerate(messages):
            if _field(message, "role") in _SYSTEM:
                content = _field(message, "content")
                if isinstance(content, str):
                    extended: Any = f"{content}\n\n{block}"
                else:
                    extended = [*_list(content), {"type": "text", "text": block}]
                first = {"role": _field(message, "role"), "content": extended}
                if name := _field(message, "name"):
                    first["name"] = name
                return {**arguments, "messages": [*messages[:index], first, *messages[index + 1 :]]}
        return {**arguments, "messages": [{"role": "system", "content": block}, *messages]}

    def answer(self, response: Any) -> str:
        """Return the text of the model's answer, complete or one part of a stream."""
        choices = _list(getattr(_parse(response), "choices", None))
        if not choices:
            return ""
        first = choices[0]
        message = getattr(first, "message", None) or getattr(first, "delta", None)
        return getattr(message, "content", None) or "" if getattr(first, "index", 0) == 0 else ""


class _Responses:
    """Requests and answers of the Responses API."""

    def user_texts(self, arguments: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return the texts of all user messages, and of those since the model's last answer."""
        given = arguments.get("input")
        return ([given], [given]) if isinstance(given, str) else _texts_of_user(_list(given))

    def with_block(self, arguments: dict[str, Any], block: str) -> dict[str, Any]:
        """Return the arguments with a block in the instructions."""
        given = arguments.get("instructions")
        instructions = f"{given}\n\n{block}" if isinstance(given, str) else block
        return {**arguments, "instructions": instructions}

    def answer(self, response: Any) -> str:
        """Return the text of the model's answer, complete or one part of a stream."""
        if getattr(response, "type", None) == "response.output_text.delta":
            return str(response.delta)
        text = getattr(_parse(response), "output_text", None)
        return text if isinstance(text, str) else ""


def _parse(response: Any) -> Any:
    """Parse a raw response that has been read; return any other response unchanged."""
    parse = getattr(response, "parse", None)
    return parse() if callable(parse) and not hasattr(response, "read") else response


def _texts_of_user(messages: Sequence[Any]) -> tuple[list[str], list[str]]:
    every: list[str] = []
    since: list[str] = []
    for message in messages:
        role = _field(message, "role")
        if role == "user":
            text = _text(_field(message, "content"))
            every.append(text)
            since.append(text)
        elif role not in _SYSTEM:
            # This is an answer, a tool call or its result, so the user has been answered.
            since.clear()
    return [text for text in every if text.strip()], since


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in _list(content) if _field(part, "type") in _TEXTS]
    return "\n".join(str(_field(part, "text")) for part in parts)


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _list(value: Any) -> list[Any]:
    # The client's marker for an omitted argument is not a list either.
    return list(value) if isinstance(value, list | tuple) else []


def _call(create: Callable[..., Any], shape: _Chat | _Responses, memory: _Memory) -> Any:
    def call(*args: Any, **arguments: Any) -> Any:
        arguments = _with_rereadable_messages(arguments)
        every, since = shape.user_texts(arguments)
        block = memory.block(every)
        response = create(*args, **(shape.with_block(arguments, block) if block else arguments))
        if arguments.get("stream") is True:
            return _StoringStream(response, shape, lambda answer: memory.store(since, answer))
        memory.store(since, shape.answer(response))
        return response

    return call


def _async_call(create: Callable[..., Any], shape: _Chat | _Responses, memory: _Memory) -> Any:
    async def call(*args: Any, **arguments: Any) -> Any:
        arguments = _with_rereadable_messages(arguments)
        every, since = shape.user_texts(arguments)
        block = await asyncio.to_thread(memory.block, every)
        response = await create(
            *args, **(shape.with_block(arguments, block) if block else arguments)
        )
        if arguments.get("stream") is True:
            return _AsyncStoringStream(response, shape, lambda answer: memory.store(since, answer))
        await asyncio.to_thread(memory.store, since, shape.answer(response))
        return response

    return call


def _with_rereadable_messages(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the messages as a list, since the client accepts any iterable."""
    given = arguments.get("messages")
    if given is None or isinstance(given, list | str):
        return arguments
    return {**arguments, "messages": list(given)}


class _StoringStream:
    """A wrapper of a stream that stores the answer once it has been read to its end."""

    def __init__(
        self, stream: Any, shape: _Chat | _Responses, store: Callable[[str], None]
    ) -> None:
        self._stream = stream
        self._shape = shape
        self._store = store
        self._parts = self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        return self._parts

    def __next__(self) -> Any:
        return next(self._parts)

    def __enter__(self) -> _StoringStream:
        return self

    def __exit__(self, *args: object) -> None:
        self._stream.close()

    def _read(self) -> Iterator[Any]:
        texts = []
        for part in self._stream:
            texts.append(self._shape.answer(part))
            yield part
        self._store("".join(texts))


class _AsyncStoringStream:
    """`_StoringStream` for an asynchronous stream."""

    def __init__(
        self, stream: Any, shape: _Chat | _Responses, store: Callable[[str], None]
    ) -> None:
        self._stream = stream
        self._shape = shape
        self._store = store
        self._parts = self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._parts

    async def __anext__(self) -> Any:
        return await anext(self._parts)

    async def __aenter__(self) -> _AsyncStoringStream:
        return self

    async def __aexit__(self, *args: object) -> None:
        await self._stream.close()

    async def _read(self) -> AsyncIterator[Any]:
        texts = []
        async for part in self._stream:
            texts.append(self._shape.answer(part))
            yield part
        await asyncio.to_thread(self._store, "".join(texts))
