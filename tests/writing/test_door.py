"""The door to the models: accounts in turn, patience, limits of time, budgets, and no key shown."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.schemas.errors import AlreadyClosed, InvalidInput
from recollect.streams.models.chat import ChatQuestion
from recollect.streams.models.model_door import DoorClosed, ModelDoor, QuestionRefused
from recollect.streams.models.model_settings import ModelSettings, accounts_of
from recollect.streams.models.spending import BudgetSpent, Spending
from tests.writing.model_server import ModelServer, Reply, Script, in_turn, model_server, say

QUESTION = ChatQuestion(({"role": "user", "content": "Where does Ada live?"},))
KEY = "sk-very-secret-4711"


@contextmanager
def door_to(
    *servers: ModelServer,
    settings: ModelSettings | None = None,
    key: str = "",
    path: Path | None = None,
) -> Iterator[ModelDoor]:
    given = settings or ModelSettings()
    texts = tuple(f"{server.url} model-{n}{key}" for n, server in enumerate(servers))
    accounts = accounts_of(ModelSettings(accounts=texts), {"MODEL_KEY": KEY})
    door = ModelDoor(accounts, given, Spending(path, given), first_wait=0.001)
    try:
        yield door
    finally:
        door.close()


@contextmanager
def served(script: Script, **given: object) -> Iterator[tuple[ModelDoor, ModelServer]]:
    with model_server(script) as server, door_to(server, **given) as door:  # type: ignore[arg-type]
        yield door, server


def test_an_answer_has_its_words_its_calls_and_its_tokens():
    call = ("recall", {"query": "Ada"})
    with served(in_turn(say("Let me look.", call, tokens=(321, 45)))) as (door, server):
        answer = door.ask(QUESTION)
    assert answer.text == "Let me look."
    assert [(each.name, each.arguments) for each in answer.calls] == [
        ("recall", '{"query": "Ada"}')
    ]
    assert (answer.tokens_in, answer.tokens_out) == (321, 45)
    assert server.questions[0]["model"] == answer.model == "model-0"
    assert server.questions[0]["messages"] == [{"role": "user", "content": "Where does Ada live?"}]


def test_accounts_are_asked_in_turn():
    with (
        model_server(in_turn(say("one"))) as one,
        model_server(in_turn(say("two"))) as two,
        door_to(one, two) as door,
    ):
        assert [door.ask(QUESTION).text for _ in range(4)] == ["one", "two", "one", "two"]


def test_an_account_that_is_asked_too_often_rests_and_another_answers():
    busy = Reply(b"slow down", 429, {"Retry-After": "30"})
    with (
        model_server(in_turn(busy)) as one,
        model_server(in_turn(say("two"))) as two,
        door_to(one, two) as door,
    ):
        assert [door.ask(QUESTION).text for _ in range(3)] == ["two"] * 3
        assert len(one.questions) == 1


@pytest.mark.parametrize("said", ["0", "1", "date"])
def test_a_single_account_is_waited_for_as_it_asks(said):
    if said == "date":
        said = (datetime.now(UTC) + timedelta(seconds=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    busy = Reply(b"", 429, {"Retry-After": said})
    with served(in_turn(busy, say("now"))) as (door, server):
        assert door.ask(QUESTION).text == "now"
        assert len(server.questions) == 2


@pytest.mark.parametrize(
    "fault",
    [
        Reply(b"", 500),
        Reply(b"", 503),
        Reply(b"no JSON at all"),
        Reply(b'{"choices": []}'),
        Reply(b'{"choices": [{"message": 7}]}'),
        Reply(b'{"choices": [{"message": {"tool_calls": [{"id": 1}]}}]}'),
        Reply(b"\xff\xfe"),
        Reply(b'{"choices": [{"mess', cut=0),
        Reply(say("cut").body, cut=20),
        Reply(say("elsewhere").body, 302, {"Location": "http://127.0.0.1:1/"}),
    ],
    ids=lambda fault: f"{fault.status} {fault.body[:24]!r}",
)
def test_a_fault_is_tried_again_or_told_but_never_believed(fault):
    with served(in_turn(fault, say("well"))) as (door, server):
        if fault.status == 302:
            with pytest.raises(QuestionRefused, match="302"):
                door.ask(QUESTION)
        else:
            assert door.ask(QUESTION).text == "well"
            assert len(server.questions) == 2


def test_it_gives_up_after_so_many_attempts():
    with served(in_turn(Reply(b"", 500)), settings=ModelSettings(attempts=3)) as (door, server):
        with pytest.raises(DoorClosed, match="answered 500"):
            door.ask(QUESTION)
        assert len(server.questions) == 3
        assert door.counts["answered 500"] == 3


def test_a_question_that_is_refused_is_not_asked_again():
    with served(in_turn(Reply(b"too long", 400))) as (door, server):
        with pytest.raises(QuestionRefused, match="400"):
            door.ask(QUESTION)
        assert len(server.questions) == 1


def test_a_refused_account_is_left_out_from_then_on():
    with (
        model_server(in_turn(Reply(b"", 401))) as one,
        model_server(in_turn(say("two"))) as two,
        door_to(one, two) as door,
    ):
        assert [door.ask(QUESTION).text for _ in range(3)] == ["two"] * 3
        assert len(one.questions) == 1


def test_with_every_account_refused_the_door_is_closed():
    with served(in_turn(Reply(b"", 401))) as (door, server):
        for _ in range(2):
            with pytest.raises(DoorClosed, match="refuses the account"):
                door.ask(QUESTION)
        assert len(server.questions) == 1


@pytest.mark.parametrize("slow", [Reply(say("late").body, delay=3), Reply(say("x").body, drip=0.1)])
def test_a_slow_answer_is_not_waited_for(slow):
    settings = ModelSettings(seconds=0.3, attempts=1)
    with (
        served(in_turn(slow), settings=settings) as (door, _),
        pytest.raises(DoorClosed, match="took too long"),
    ):
        door.ask(QUESTION)


def test_nobody_there_is_told():
    with model_server(in_turn(say())) as server:
        pass
    with (
        door_to(server, settings=ModelSettings(attempts=2)) as door,
        pytest.raises(DoorClosed, match="cannot be reached"),
    ):
        door.ask(QUESTION)


def test_an_answer_without_end_is_cut_off():
    endless = Reply(b'{"choices": [{"message": {"content": "' + b"x" * 5_000_000 + b'"}}]}')
    with (
        served(in_turn(endless), settings=ModelSettings(attempts=1)) as (door, _),
        pytest.raises(DoorClosed, match="without end"),
    ):
        door.ask(QUESTION)


def test_no_more_are_asked_at_once_than_allowed():
    reply = say("yes")
    reply.delay = 0.05
    with (
        served(in_turn(reply), settings=ModelSettings(concurrency=2)) as (door, server),
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda _: door.ask(QUESTION).text, range(8)))
    assert answers == ["yes"] * 8
    assert server.most_at_once <= 2


def test_a_budget_of_a_run_ends_it_before_a_question_leaves():
    settings = ModelSettings(tokens_per_run=700, answer_tokens=200)
    with served(in_turn(say(tokens=(250, 50))), settings=settings) as (door, server):
        door.ask(QUESTION)
        door.ask(QUESTION)
        with pytest.raises(BudgetSpent, match="tokens_per_run"):
            door.ask(QUESTION)
        assert len(server.questions) == 2
        assert door.spending.run.tokens == 600


def test_a_budget_of_a_day_outlives_the_process_and_ends_with_the_day(tmp_path):
    clock = [datetime(2026, 5, 8, 23, 59, tzinfo=UTC).timestamp()]
    settings = ModelSettings(cost_per_day=0.01, price_in=10.0, price_out=30.0)
    for _ in range(2):
        spending = Spending(tmp_path / "spending.db", settings, lambda: clock[0])
        spending.reserve(400, 0.004)
        spending.close()
    spending = Spending(tmp_path / "spending.db", settings, lambda: clock[0])
    with pytest.raises(BudgetSpent, match="cost_per_day"):
        spending.reserve(400, 0.004)
    clock[0] += 120
    spending.reserve(400, 0.004)
    assert spending.today().tokens == 400
    spending.close()


def test_a_question_that_nobody_took_costs_nothing_and_one_that_broke_off_all():
    settings = ModelSettings(attempts=1, seconds=0.2, answer_tokens=100)
    late = say()
    late.delay = 2
    with served(in_turn(Reply(b"", 503), late), settings=settings) as (door, _):
        with pytest.raises(DoorClosed):
            door.ask(QUESTION)
        assert door.spending.today().tokens == 0
        with pytest.raises(DoorClosed):
            door.ask(QUESTION)
        assert door.spending.today().tokens > 100


def test_closing_ends_who_waits():
    busy = Reply(b"", 429, {"Retry-After": "60"})
    with served(in_turn(busy)) as (door, server):
        found: list[BaseException] = []

        def ask() -> None:
            try:
                door.ask(QUESTION)
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.questions:
            thread.join(0.01)
        door.close()
        thread.join(20)
        assert not thread.is_alive()
        assert isinstance(found[0], AlreadyClosed)


def test_closing_ends_who_waits_for_an_answer():
    slow = Reply(say("late").body, delay=20)
    with served(in_turn(slow)) as (door, server):
        found: list[BaseException] = []

        def ask() -> None:
            try:
                door.ask(QUESTION)
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.questions:
            thread.join(0.01)
        door.close()
        thread.join(10)
        assert not thread.is_alive()
        assert isinstance(found[0], AlreadyClosed)
        # What becomes of the question is not known, so it counts as answered.
        assert door.spending.run.tokens > 100


def test_a_key_is_sent_and_shown_nowhere(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "spending.db"
    script = in_turn(say(), Reply(b"", 401))
    with served(script, key=" env:MODEL_KEY", path=path) as (door, server):
        door.ask(QUESTION)
        with pytest.raises(DoorClosed) as told:
            door.ask(QUESTION)
        assert server.keys == [f"Bearer {KEY}"] * 2
        shown = f"{told.value} {door.accounts} {door.counts} {caplog.text}"
    assert KEY not in shown
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_key_may_stand_in_a_file(tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    settings = ModelSettings(accounts=(f"https://models.example/v1 m file:{tmp_path / 'key'}",))
    (account,) = accounts_of(settings, {})
    assert account.headers == {"Authorization": f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("account", "told"),
    [
        ("", "give 'URL MODEL"),
        ("https://models.example/v1", "give 'URL MODEL"),
        ("models.example m", "no http or https address"),
        ("ftp://models.example m", "no http or https address"),
        (f"https://ada:{KEY}@models.example/v1 m", "does not stand in the address"),
        (f"https://models.example/v1 m {KEY}", "never itself"),
        (f"https://models.example/v1 m key:{KEY}", "never itself"),
        ("https://models.example/v1 m env:NOT_SET", "NOT_SET is not set"),
        ("https://models.example/v1 m env:EMPTY", "EMPTY is not set"),
        ("https://models.example/v1 m file:/no/such/file", "cannot be read"),
        ("http://models.example/v1 m env:MODEL_KEY", "by https only"),
        ("https://models.example/v1 m env:ODD", "is no key"),
    ],
)
def test_an_account_that_is_written_wrongly_is_told_without_its_key(account, told):
    environment = {"MODEL_KEY": KEY, "EMPTY": " ", "ODD": f"{KEY}\r\nX-Other: 1"}
    with pytest.raises(InvalidInput, match=told) as error:
        accounts_of(ModelSettings(accounts=(account,)), environment)
    assert KEY not in str(error.value)


def test_without_accounts_it_says_where_they_are_written():
    with pytest.raises(InvalidInput, match=r"recollect\.toml"):
        accounts_of(ModelSettings(), {})
