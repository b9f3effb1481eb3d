"""The route that streams an inference while it runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from litestar import post
from litestar.params import FromPath
from litestar.response import ServerSentEvent, ServerSentEventMessage

from recollect.operations.table.inference_operations import infer
from recollect.schemas.wire import Inference, InferenceEvent
from recollect.service.query_service import AnyRequest
from recollect.service.routes.operation_handlers import input_of
from recollect.service.routes.route_kit import (
    existing_zone,
    message,
    problem_message,
    service_of,
)


class _ClientLeft(Exception):
    """The client closed the stream; raised to end the inference at its next event."""


@post("/infer/stream", status_code=200, opt={"right": "write"}, include_in_schema=False)
async def stream_inference(request: AnyRequest, zone: FromPath[str]) -> ServerSentEvent:
    """Run an inference, and send its events; the last is `final_answer`, or `problem`."""
    _, given = infer.arguments(await input_of(infer, request))
    return await streamed(request, zone, given)


async def inferred(request: AnyRequest, zone: str, given: Mapping[str, Any]) -> Inference:
    """Run an inference with the parameters of `infer`; return its result."""
    opened = await existing_zone(request, zone)
    return await service_of(request).inferring.run(lambda: opened.infer(**given))


async def streamed(request: AnyRequest, zone: str, given: Mapping[str, Any]) -> ServerSentEvent:
    """Run an inference with the parameters of `infer`; return its events as they happen."""
    opened = await existing_zone(request, zone)
    service, loop = service_of(request), asyncio.get_running_loop()
    events: asyncio.Queue[InferenceEvent | None] = asyncio.Queue()
    left = threading.Event()

    def report(event: InferenceEvent) -> None:
        if left.is_set():
            raise _ClientLeft
        loop.call_soon_threadsafe(events.put_nowait, event)

    def work() -> None:
        with suppress(_ClientLeft):
            opened.infer(**given, progress=report)

    running = asyncio.ensure_future(service.inferring.run(work))
    running.add_done_callback(lambda _: events.put_nowait(None))
    # An error before the first event is answered with its status, not with a stream.
    first = await events.get()
    if first is None:
        await running

    async def messages() -> AsyncIterator[ServerSentEventMessage]:
        event = first
        try:
            while event is not None:
                yield message(event.event, event)
                event = await events.get()
        finally:
            left.set()
        if isinstance(error := running.exception(), Exception):
            yield problem_message(request, error)

    return ServerSentEvent(messages())


ROUTES = (stream_inference,)
