"""The library for asyncio: the same answers, and an event loop that goes on."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from recollect import AsyncRecollect, Recollect
from recollect.operations.answers.recalling import recall
from recollect.schemas.errors import AlreadyClosed, HomeError, InvalidInput
from tests.library.kit import said


def test_many_calls_at_once_get_the_answers_of_one_by_one(tmp_path: Path) -> None:
    words = [f"qx{number}zy" for number in range(40)]
    events = [said(word, f"I keep {word} in a box.") for word in words]

    async def main() -> list[list[str]]:
        async with AsyncRecollect(tmp_path / "home", encoder="none") as r:
            ada = r.zone("ada")
            await asyncio.gather(*(ada.ingest(event) for event in events))
            answers = await asyncio.gather(*(ada.recall(word, max_results=1) for word in words))
            assert (await ada.verify()).ok
            assert await r.zones() == ["ada"]
            return [answer.results[0].source_event_ids for answer in answers]

    assert asyncio.run(main()) == [[word] for word in words]
    with Recollect(tmp_path / "home") as r:
        assert r.zone("ada").status().events == len(words)


def test_the_event_loop_goes_on_while_a_call_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slow(*asked: object) -> object:
        assert go_on.wait(60)
        return recall(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr("recollect.operations.answers.recalling.recall", slow)

    async def main() -> int:
        async with AsyncRecollect(tmp_path / "home", encoder="none") as r:
            ada = r.zone("ada")
            await ada.ingest(said("m1", "I live in Turin."))
            asked = asyncio.create_task(ada.recall("Turin"))
            # While that one waits, this goes on.
            assert (await ada.status()).events == 1
            assert not asked.done()
            go_on.set()
            return len((await asked).results)

    assert asyncio.run(main()) > 0


def test_close_waits_for_a_call_whose_task_was_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def slow(*asked: object) -> object:
        at_work.set()
        assert go_on.wait(60)
        answer = recall(*asked)  # type: ignore[arg-type]
        ended.set()
        return answer

    monkeypatch.setattr("recollect.operations.answers.recalling.recall", slow)

    async def main() -> None:
        async with AsyncRecollect(tmp_path / "home", encoder="none") as r:
            ada = r.zone("ada")
            await ada.ingest(said("m1", "I live in Turin."))
            asked = asyncio.create_task(ada.recall("Turin"))
            await asyncio.to_thread(at_work.wait, 60)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            go_on.set()
        assert ended.is_set()

    asyncio.run(main())


def test_errors_are_those_of_the_library(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("all of it")

    async def main() -> None:
        with pytest.raises(HomeError):
            async with AsyncRecollect(tmp_path / "full", encoder="none"):
                pass
        r = AsyncRecollect(tmp_path / "home", encoder="none")
        with pytest.raises(AlreadyClosed, match="async with"):
            r.zone("ada")
        async with r:
            with pytest.raises(InvalidInput, match="max_results"):
                await r.zone("ada").recall("x", max_results=0)
            ada = r.zone("ada")
        with pytest.raises(AlreadyClosed):
            await ada.status()
        async with r:
            assert await r.zones() == []

    asyncio.run(main())
