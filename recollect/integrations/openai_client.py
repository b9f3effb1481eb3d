"""An OpenAI client that is told what a zone remembers, and whose talk is remembered (`openai`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import uuid4

from recollect import DecisionTimeout, RecollectError, Zone, needed
from recollect.integrations.thoughts import spoken

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
    """Return a copy of a client that puts memories before the model, and keeps what is said.

    `chat.completions` and `responses` ask the zone for the context of what the user says last, and
    put it, framed as data, into the system message; mostly there is none. `max_tokens`: what it
    takes at most. Once the model has answered, what the user said since its last answer and what it
    answered are kept as one turn of a session, and decided; what the model thought aloud is not. A
    stream is kept when it was read to its end. Where the memory fails, the model answers without
    it, and the log says so. The client that was given stays as it is, and copies of the one that is
    returned remember too.
    """
    memory = _Memory(
        zone,
        user={"sender_id": user_id, "sender_name": user_name},
        session_id=session_id or uuid4().hex,
        max_tokens=max_tokens,
        platform=platform,
    )
    return _remembering(client.copy(), memory)


def _remembering(client: Client, memory: _Memory) -> Client:
    """Have a client use a memory, and all copies of it."""
    wrapped = _async_call if isinstance(client, AsyncOpenAI) else _call
    for resource, shape in ((client.chat.completions, _Chat()), (client.responses, _Responses())):
        for name in ("create", "parse"):
            setattr(resource, name, wrapped(getattr(resource, name), shape, memory))
    copy: Callable[..., Client] = client.copy

    def remembering_copy(**options: Any) -> Client:
        return _remembering(copy(**options), memory)

    for name in ("copy", "with_options"):
        setattr(client, name, remembering_copy)
    return client


class _Memory:
    """What is remembered for, and kept of, the talk of one client."""

    def __init__(
        self,
        zone: Zone,
        *,
        user: dict[str, str | None],
        session_id: str,
        max_tokens: int | None,
        platform: str,
    ) -> None:
        self._held = zone
        self._user = user
        self._session_id = session_id
        self._options = {} if max_tokens is None else {"max_tokens": max_tokens}
        self._platform = platform

    def block(self, said: Sequence[str]) -> str:
        """Return what the zone has to say on the last of some texts; nothing where it fails."""
        if not said:
            return ""
        try:
            return self._held.context(said[-1], **self._options).block
        except RecollectError as error:
            _log.warning("nothing is put before the model: %s", type(error).__name__)
            return ""

    def keep(self, said: Sequence[str], answer: str) -> None:
        """Keep what the user said and what was answered, as one turn."""
        turn = uuid4().hex
        events = [self._event(turn, text, direction="in", **self._user) for text in said]
        events.append(self._event(turn, spoken(answer), direction="out", sender_id="assistant"))
        events = [event for event in events if event["content"].strip()]
        now = datetime.now(UTC)
        for place, event in enumerate(events):
            at = now + timedelta(milliseconds=place)
            event["occurred_at"] = at.isoformat(timespec="milliseconds")
        if not events:
            return
        # Else the turn stays open, and what was said in it is not concluded from for some time.
        events[-1]["kind"] = "turn_completed"
        try:
            self._held.ingest(events)
        except DecisionTimeout:
            # It is kept, and a service decides it later.
            _log.info("a turn is not decided yet")
        except RecollectError as error:
            _log.warning("a turn is not remembered: %s", type(error).__name__)

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
    """How chat completions say things."""

    def said(self, asked: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return what the user said: all of it, and what came after the model's last answer."""
        return _said_in(_list(asked.get("messages")))

    def told(self, asked: dict[str, Any], block: str) -> dict[str, Any]:
        """Return the arguments with a block in the system message."""
        messages = _list(asked.get("messages"))
        for place, message in enumerate(messages):
            if _field(message, "role") in _SYSTEM:
                content = _field(message, "content")
                if isinstance(content, str):
                    more: Any = f"{content}\n\n{block}"
                else:
                    more = [*_list(content), {"type": "text", "text": block}]
                first = {"role": _field(message, "role"), "content": more}
                if name := _field(message, "name"):
                    first["name"] = name
                return {**asked, "messages": [*messages[:place], first, *messages[place + 1 :]]}
        return {**asked, "messages": [{"role": "system", "content": block}, *messages]}

    def answer(self, found: Any) -> str:
        """Return what the model answered, in a whole answer or in one part of a stream."""
        choices = _list(getattr(_parsed(found), "choices", None))
        if not choices:
            return ""
        first = choices[0]
        said = getattr(first, "message", None) or getattr(first, "delta", None)
        return getattr(said, "content", None) or "" if getattr(first, "index", 0) == 0 else ""


class _Responses:
    """How responses say things."""

    def said(self, asked: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return what the user said: all of it, and what came after the model's last answer."""
        given = asked.get("input")
        return ([given], [given]) if isinstance(given, str) else _said_in(_list(given))

    def told(self, asked: dict[str, Any], block: str) -> dict[str, Any]:
        """Return the arguments with a block in the instructions."""
        given = asked.get("instructions")
        return {**asked, "instructions": f"{given}\n\n{block}" if isinstance(given, str) else block}

    def answer(self, found: Any) -> str:
        """Return what the model answered, in a whole answer or in one part of a stream."""
        if getattr(found, "type", None) == "response.output_text.delta":
            return str(found.delta)
        text = getattr(_parsed(found), "output_text", None)
        return text if isinstance(text, str) else ""


def _parsed(found: Any) -> Any:
    """Return the answer of a raw response that has been read; what is none as it is."""
    parse = getattr(found, "parse", None)
    return parse() if callable(parse) and not hasattr(found, "read") else found


def _said_in(messages: Sequence[Any]) -> tuple[list[str], list[str]]:
    every: list[str] = []
    since: list[str] = []
    for message in messages:
        role = _field(message, "role")
        if role == "user":
            text = _text(_field(message, "content"))
            every.append(text)
            since.append(text)
        elif role not in _SYSTEM:
            # An answer, a call of a tool, or what it gave: the user was answered.
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
    # What the client marks as not given is no list either.
    return list(value) if isinstance(value, list | tuple) else []


def _call(create: Callable[..., Any], shape: _Chat | _Responses, memory: _Memory) -> Any:
    def call(*args: Any, **asked: Any) -> Any:
        asked = _again_readable(asked)
        every, since = shape.said(asked)
        block = memory.block(every)
        found = create(*args, **(shape.told(asked, block) if block else asked))
        if asked.get("stream") is True:
            return _Heard(found, shape, lambda answer: memory.keep(since, answer))
        memory.keep(since, shape.answer(found))
        return found

    return call


def _async_call(create: Callable[..., Any], shape: _Chat | _Responses, memory: _Memory) -> Any:
    async def call(*args: Any, **asked: Any) -> Any:
        asked = _again_readable(asked)
        every, since = shape.said(asked)
        block = await asyncio.to_thread(memory.block, every)
        found = await create(*args, **(shape.told(asked, block) if block else asked))
        if asked.get("stream") is True:
            return _AsyncHeard(found, shape, lambda answer: memory.keep(since, answer))
        await asyncio.to_thread(memory.keep, since, shape.answer(found))
        return found

    return call


def _again_readable(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with messages that may be read twice: the client takes any iterable."""
    given = asked.get("messages")
    if given is None or isinstance(given, list | str):
        return asked
    return {**asked, "messages": list(given)}


class _Heard:
    """A stream whose answer is kept when it was read to its end; else as the stream itself."""

    def __init__(self, stream: Any, shape: _Chat | _Responses, keep: Callable[[str], None]) -> None:
        self._stream = stream
        self._shape = shape
        self._keep = keep
        self._parts = self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        return self._parts

    def __next__(self) -> Any:
        return next(self._parts)

    def __enter__(self) -> _Heard:
        return self

    def __exit__(self, *args: object) -> None:
        self._stream.close()

    def _read(self) -> Iterator[Any]:
        said = []
        for part in self._stream:
            said.append(self._shape.answer(part))
            yield part
        self._keep("".join(said))


class _AsyncHeard:
    """The same, of an asynchronous stream."""

    def __init__(self, stream: Any, shape: _Chat | _Responses, keep: Callable[[str], None]) -> None:
        self._stream = stream
        self._shape = shape
        self._keep = keep
        self._parts = self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._parts

    async def __anext__(self) -> Any:
        return await anext(self._parts)

    async def __aenter__(self) -> _AsyncHeard:
        return self

    async def __aexit__(self, *args: object) -> None:
        await self._stream.close()

    async def _read(self) -> AsyncIterator[Any]:
        said = []
        async for part in self._stream:
            said.append(self._shape.answer(part))
            yield part
        await asyncio.to_thread(self._keep, "".join(said))
