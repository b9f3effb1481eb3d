"""The asyncio library: the same zones, with coroutine methods that run on threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from inspect import isawaitable
from os import PathLike
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from recollect.home.home_directory import Home, InstallProgress
from recollect.library.library_home import TIMEOUT, Recollect
from recollect.library.library_zone import Zone
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import ZoneOperations
from recollect.schemas.errors import AlreadyClosed
from recollect.schemas.events import MemoryScope, MemoryVisibility
from recollect.schemas.wire import ZoneSummary
from recollect.schemas.zones import DEFAULT_ZONE

# Maximum number of concurrent calls; further calls wait.
_THREADS = 8

P = ParamSpec("P")
T = TypeVar("T")


class AsyncRecollect:
    """A home or a service for asyncio, with the parameters of `Recollect`; use `async with`.

    Calls run on a pool of `threads` threads and do not block the event loop. A call whose task is
    cancelled runs to its end; only `close` waits for it.

    >>> async def main():
    ...     async with AsyncRecollect(home, encoder="none") as r:
    ...         return (await r.zone("ada").recall("Where does Ada live?")).results
    >>> asyncio.run(main())
    []
    """

    def __init__(
        self,
        home: str | PathLike[str] | Home = "~/.recollect",
        *,
        token: str | None = None,
        timeout: float = TIMEOUT,
        ledger: str | None = None,
        encoder: str | None = None,
        progress: InstallProgress | None = None,
        count_accesses: bool = False,
        threads: int = _THREADS,
    ) -> None:
        self._open = partial(
            Recollect,
            home,
            token=token,
            timeout=timeout,
            ledger=ledger,
            encoder=encoder,
            progress=progress,
            count_accesses=count_accesses,
        )
        self._threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._entered: Recollect | None = None

    def zone(self, name: str = DEFAULT_ZONE) -> AsyncZone:
        """Return a zone, the memory of one tenant, or a branch of it: `ada@trial`.

        The first event creates a zone, `create_branch` a branch.

        Raises:
            InvalidInput: a name is not 1 to 64 letters, digits, `.`, `_` and `-`, or there is no
                such branch.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return r.zone("ada").name
        >>> asyncio.run(main())
        'ada'
        """
        return AsyncZone(self, self._recollect().zone(name))

    async def holds(self, zone: str) -> bool:
        """Return whether a zone has events.

        Raises:
            InvalidInput: the name is invalid.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return await r.holds("ada")
        >>> asyncio.run(main())
        False
        """
        return await self.run(partial(self._recollect().holds, zone))

    async def zones(self) -> list[str]:
        """Return the names of the zones with events, sorted.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return await r.zones()
        >>> asyncio.run(main())
        []
        """
        return await self.run(self._recollect().zones)

    async def zone_summaries(self) -> list[ZoneSummary]:
        """Return the zones with events, each with the number of its records.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return await r.zone_summaries()
        >>> asyncio.run(main())
        []
        """
        return await self.run(self._recollect().zone_summaries)

    async def run(self, work: Callable[[], T]) -> T:
        """Call `work` on a thread of the pool and return its result.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return await r.run(lambda: 1 + 1)
        >>> asyncio.run(main())
        2
        """
        if self._executor is None:
            raise AlreadyClosed("not open: use it inside `async with AsyncRecollect(...) as r:`")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def close(self) -> None:
        """Refuse further calls, wait for the running ones, and close every file.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         await r.close()
        >>> asyncio.run(main())
        """
        executor, self._executor = self._executor, None
        recollect, self._entered = self._entered, None
        if executor is None:
            return
        try:
            if recollect is not None:
                # Not on the pool's threads, which may all be busy.
                await asyncio.to_thread(recollect.close)
        finally:
            executor.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="recollect")
        try:
            self._entered = await self.run(self._open)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def _recollect(self) -> Recollect:
        if self._entered is None:
            raise AlreadyClosed("not open: use it inside `async with AsyncRecollect(...) as r:`")
        return self._entered


def _async_method(
    method: Callable[Concatenate[Zone, P], T],
) -> Callable[Concatenate[AsyncZone, P], Coroutine[Any, Any, T]]:
    """Return the coroutine version of a method of a zone."""

    @wraps(method)
    async def call(self: AsyncZone, /, *args: P.args, **kwargs: P.kwargs) -> T:
        # Looked up on the instance, since a service's zone overrides the method.
        bound: Callable[P, T] = getattr(self._zone, method.__name__)
        return await self._recollect.run(partial(bound, *args, **kwargs))

    return call


class AsyncZone(ZoneOperations):
    """The memory of one tenant, as `AsyncRecollect.zone` returns it; see `Zone` for each method.

    >>> async def main():
    ...     async with AsyncRecollect(home, encoder="none") as r:
    ...         await r.zone("ada").remember("The deploy key is in the blue safe.")
    ...         return (await r.zone("ada").status()).events
    >>> asyncio.run(main())
    1
    """

    def __init__(self, recollect: AsyncRecollect, zone: Zone) -> None:
        self._recollect = recollect
        self._zone = zone

    @property
    def name(self) -> str:
        """The zone's name.

        >>> AsyncRecollect.zone.__name__
        'zone'
        """
        return self._zone.name

    async def call_async(
        self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run an operation of the table on a thread.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return (await r.zone("ada").call_async(Zone.status)).events
        >>> asyncio.run(main())
        0
        """
        return await self._recollect.run(partial(self._zone.call, operation, *args, **kwargs))

    async def acting_as(self, *, user: str | None = None, agent: str | None = None) -> AsyncZone:
        """Return the zone on behalf of a user, an agent, or both, as `Zone.acting_as`.

        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return (await r.zone("ada").acting_as(user="ada")).name
        >>> asyncio.run(main())
        'ada'
        """
        return AsyncZone(self._recollect, self._zone.acting_as(user=user, agent=agent))

    async def execute_with_learning(
        self,
        task_fn: Callable[..., Any],
        task_description: str,
        *,
        task_type: str = "task",
        agent_id: str | None = None,
        user_id: str | None = None,
        scope: MemoryScope = "zone",
        visibility: MemoryVisibility = "shared",
        playbook_id: str | None = None,
        reflect: bool = True,
        update_playbook: bool = True,
    ) -> Any:
        """Run a task, or await it, as `Zone.execute_with_learning`; `log` of its run is awaited.

        >>> async def task(run):
        ...     await run.log("tool_call", "Run all tests.", tool="pytest")
        ...     return "released"
        >>> async def main():
        ...     async with AsyncRecollect(home, encoder="none") as r:
        ...         return await r.zone("ada").execute_with_learning(task, "Release version 2.1")
        >>> asyncio.run(main())
        'released'
        """
        # Imported here: a query does not need it.
        from recollect.library.learning_loop import (
            AsyncLearningRun,
            LearningLoop,
            takes_a_run,
            tolerated,
        )

        loop = LearningLoop(
            self._zone,
            task_description,
            task_type=task_type,
            agent_id=agent_id,
            user_id=user_id,
            scope=scope,
            visibility=visibility,
            playbook_id=playbook_id,
            reflect=reflect,
            update_playbook=update_playbook,
        )
        on_thread = self._recollect.run
        run = AsyncLearningRun(self._zone, on_thread)
        with tolerated("start the trajectory"):
            await on_thread(partial(loop.start, run))
        try:
            result = task_fn(run) if takes_a_run(task_fn) else task_fn()
            if isawaitable(result):
                result = await result
        except BaseException as error:
            with tolerated("learn"):
                await on_thread(partial(loop.end, run, error))
            raise
        with tolerated("learn"):
            await on_thread(partial(loop.end, run, None))
        return result

    ingest = _async_method(Zone.ingest)
    event_import = _async_method(Zone.event_import)
    ingest_files = _async_method(Zone.ingest_files)
    preview_files = _async_method(Zone.preview_files)
    follow_file = _async_method(Zone.follow_file)
    export = _async_method(Zone.export)
    export_lines = _async_method(Zone.export_lines)
    decide = _async_method(Zone.decide)
    wait_for = _async_method(Zone.wait_for)
    write = _async_method(Zone.write)
    compare_writer_proposal = _async_method(Zone.compare_writer_proposal)
    record_accesses = _async_method(Zone.record_accesses)
    plan_erasure = _async_method(Zone.plan_erasure)
    erase = _async_method(Zone.erase)
    exists = _async_method(Zone.exists)
    head = _async_method(Zone.head)
