"""What waits is done in one go, and each hears of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from recollect.streams.workers.group_commit import GroupCommit


def test_what_comes_meanwhile_is_done_in_one_go_and_in_order() -> None:
    done: list[list[int]] = []
    go = asyncio.Event()

    async def work(items: Sequence[int]) -> None:
        done.append(list(items))
        await go.wait()

    async def main() -> None:
        group = GroupCommit(work)
        waiting = [asyncio.create_task(group.submit([n, n + 1])) for n in (0, 10, 20)]
        await asyncio.sleep(0)
        late = asyncio.create_task(group.submit([30]))
        await asyncio.sleep(0.01)
        assert not any(task.done() for task in (*waiting, late))
        go.set()
        await asyncio.gather(*waiting, late)
        await group.submit([40])

    asyncio.run(main())
    assert [item for some in done for item in some] == [0, 1, 10, 11, 20, 21, 30, 40]
    assert len(done) < 5
    assert done[-1] == [40]


def test_an_error_is_that_of_all_who_were_together_and_of_nobody_else() -> None:
    seen: list[list[str]] = []

    async def work(items: Sequence[str]) -> None:
        seen.append(list(items))
        await asyncio.sleep(0)
        if "bad" in items:
            raise ValueError("it is bad")

    async def main() -> None:
        group = GroupCommit(work)
        first = asyncio.create_task(group.submit(["good"]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        bad = [asyncio.create_task(group.submit([item])) for item in ("bad", "neighbour")]
        await first
        for task in bad:
            with pytest.raises(ValueError, match="it is bad"):
                await task
        await group.submit(["good again"])

    asyncio.run(main())
    assert seen == [["good"], ["bad", "neighbour"], ["good again"]]
