"""A session over a zone does what the SDK's own session in SQLite does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from agents import SQLiteSession
from agents.items import TResponseInputItem
from agents.memory.session import Session
from agents.memory.session_settings import SessionSettings
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.integrations.openai_agents_session import RecollectSession
from tests.remote.kit import client
from tests.service.kit import served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("agents") / "home", encoder="none") as r:
        yield r


def items(*many: dict[str, Any]) -> list[TResponseInputItem]:
    return [cast(TResponseInputItem, item) for item in many]


ITEMS = st.sampled_from(
    items(
        {"role": "user", "content": "I moved to Turin."},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Good. \0 😀"}]},
        {"type": "function_call", "name": "map", "arguments": '{"n": 1}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "fine"},
        {"type": "reasoning", "id": "r", "summary": []},
    )
)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("add_items"), st.lists(ITEMS, max_size=3)),
        st.tuples(st.just("get_items"), st.sampled_from([None, -1, 0, 1, 2, 50])),
        st.tuples(st.just("pop_item")),
        st.tuples(st.just("clear_session")),
    ),
    min_size=1,
    max_size=10,
)
NUMBERS = iter(range(10**6))


@given(CALLS, st.sampled_from([None, 2]))
@settings(max_examples=20)
def test_any_calls_are_answered_as_by_the_session_in_sqlite(
    home: Recollect, calls: list[tuple[Any, ...]], most: int | None
) -> None:
    async def run() -> None:
        limits = SessionSettings(limit=most)
        name = f"s{next(NUMBERS)}"
        ours = RecollectSession(name, home.zone("calls"), session_settings=limits)
        theirs = SQLiteSession(name, session_settings=limits)
        for method, *given_ in [*calls, ("get_items", None)]:
            expected = await getattr(theirs, method)(*given_)
            assert await getattr(ours, method)(*given_) == expected, method
        theirs.close()

    asyncio.run(run())


def test_it_is_a_session_and_the_user_is_concluded_from(home: Recollect) -> None:
    zone = home.zone("voices")
    session = RecollectSession("s", zone, user_id="ada", user_name="Ada")
    assert isinstance(session, Session)
    said = items(
        {"role": "user", "content": "I moved to Turin."},
        {"role": "assistant", "content": "I moved to Atlantis."},
    )
    asyncio.run(session.add_items(said))
    assert [fact.text for fact in zone.facts()] == ["Ada moved to Turin."]


def test_what_is_popped_is_forgotten_and_other_sessions_stay(home: Recollect) -> None:
    zone = home.zone("popping")
    one, two = RecollectSession("1", zone), RecollectSession("2", zone)

    async def run() -> None:
        await one.add_items(items({"role": "user", "content": "I moved to Turin."}))
        await two.add_items(items({"role": "user", "content": "I bought a boat."}))
        assert await one.pop_item() == {"role": "user", "content": "I moved to Turin."}
        assert await one.pop_item() is None
        await one.clear_session()
        assert len(await two.get_items()) == 1

    asyncio.run(run())
    assert [memory.text for memory in zone.list_memories("events").memories] == ["I bought a boat."]


def test_a_session_over_a_service(tmp_path: Path) -> None:
    async def run(session: RecollectSession) -> None:
        assert await session.get_items() == []
        assert await session.pop_item() is None
        said = items(*({"role": "user", "content": f"Line {number}."} for number in range(4)))
        await session.add_items(said)
        assert await session.get_items(2) == said[2:]
        assert await session.pop_item() == said[3]
        await session.clear_session()
        assert await session.get_items() == []

    with served(tmp_path / "home") as service, client(service) as r:
        asyncio.run(run(RecollectSession("s", r.zone("ada"))))
