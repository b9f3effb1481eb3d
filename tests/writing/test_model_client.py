"""The model client: rotation of accounts, retries, timeouts, budgets, and no key shown."""

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
from recollect.streams.models.budget_tracker import BudgetExceeded, BudgetTracker
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient, ModelUnavailable, PromptRejected
from recollect.streams.models.model_settings import ModelSettings, load_accounts
from tests.writing.model_server import ModelServer, Reply, Script, in_turn, model_server, say

QUESTION = ChatRequest(({"role": "user", "content": "Where does Ada live?"},))
KEY = "sk-very-secret-4711"


@contextmanager
def client_of(
    *servers: ModelServer,
    settings: ModelSettings | None = None,
    key: str = "",
    path: Path | None = None,
) -> Iterator[ModelClient]:
    given = settings or ModelSettings()
    texts = tuple(f"{server.url} model-{n}{key}" for n, server in enumerate(servers))
    accounts = load_accounts(ModelSettings(accounts=texts), {"MODEL_KEY": KEY})
    client = ModelClient(accounts, given, BudgetTracker(path, given), initial_backoff=0.001)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def served(script: Script, **given: object) -> Iterator[tuple[ModelClient, ModelServer]]:
    with model_server(script) as server, client_of(server, **given) as client:  # type: ignore[arg-type]
        yield client, server


def test_an_answer_has_its_words_its_calls_and_its_tokens():
    call = ("recall", {"query": "Ada"})
    with served(in_turn(say("Let me look.", call, tokens=(321, 45)))) as (client, server):
        answer = client.ask(QUESTION)
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
        client_of(one, two) as client,
    ):
        assert [client.ask(QUESTION).text for _ in range(4)] == ["one", "two", "one", "two"]


def test_an_account_that_is_asked_too_often_rests_and_another_answers():
    busy = Reply(b"slow down", 429, {"Retry-After": "30"})
    with (
        model_server(in_turn(busy)) as one,
        model_server(in_turn(say("two"))) as two,
        client_of(one, two) as client,
    ):
        assert [client.ask(QUESTION).text for _ in range(3)] == ["two"] * 3
        assert len(one.questions) == 1


@pytest.mark.parametrize("said", ["0", "1", "date"])
def test_a_single_account_is_waited_for_as_it_asks(said):
    if said == "date":
        said = (datetime.now(UTC) + timedelta(seconds=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    busy = Reply(b"", 429, {"Retry-After": said})
    with served(in_turn(busy, say("now"))) as (client, server):
        assert client.ask(QUESTION).text == "now"
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
    with served(in_turn(fault, say("well"))) as (client, server):
        if fault.status == 302:
            with pytest.raises(PromptRejected, match="302"):
                client.ask(QUESTION)
        else:
            assert client.ask(QUESTION).text == "well"
            assert len(server.questions) == 2


def test_it_gives_up_after_so_many_attempts():
    with served(in_turn(Reply(b"", 500)), settings=ModelSettings(attempts=3)) as (client, server):
        with pytest.raises(ModelUnavailable, match="answered 500"):
            client.ask(QUESTION)
        assert len(server.questions) == 3
        assert client.counts["answered 500"] == 3


def test_a_question_that_is_refused_is_not_asked_again():
    with served(in_turn(Reply(b"too long", 400))) as (client, server):
        with pytest.raises(PromptRejected, match="400"):
            client.ask(QUESTION)
        assert len(server.questions) == 1


def test_a_refused_account_is_left_out_from_then_on():
    with (
        model_server(in_turn(Reply(b"", 401))) as one,
        model_server(in_turn(say("two"))) as two,
        client_of(one, two) as client,
    ):
        assert [client.ask(QUESTION).text for _ in range(3)] == ["two"] * 3
        assert len(one.questions) == 1


def test_the_client_fails_when_every_account_is_rejected():
    with served(in_turn(Reply(b"", 401))) as (client, server):
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="rejected the account"):
                client.ask(QUESTION)
        assert len(server.questions) == 1


@pytest.mark.parametrize("slow", [Reply(say("late").body, delay=3), Reply(say("x").body, drip=0.1)])
def test_a_slow_answer_is_not_waited_for(slow):
    settings = ModelSettings(seconds=0.3, attempts=1)
    with (
        served(in_turn(slow), settings=settings) as (client, _),
        pytest.raises(ModelUnavailable, match="took too long"),
    ):
        client.ask(QUESTION)


def test_nobody_there_is_told():
    with model_server(in_turn(say())) as server:
        pass
    with (
        client_of(server, settings=ModelSettings(attempts=2)) as client,
        pytest.raises(ModelUnavailable, match="cannot be reached"),
    ):
        client.ask(QUESTION)


def test_an_answer_without_end_is_cut_off():
    endless = Reply(b'{"choices": [{"message": {"content": "' + b"x" * 5_000_000 + b'"}}]}')
    with (
        served(in_turn(endless), settings=ModelSettings(attempts=1)) as (client, _),
        pytest.raises(ModelUnavailable, match="too long a response"),
    ):
        client.ask(QUESTION)


def test_no_more_are_asked_at_once_than_allowed():
    reply = say("yes")
    reply.delay = 0.05
    with (
        served(in_turn(reply), settings=ModelSettings(concurrency=2)) as (client, server),
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda _: client.ask(QUESTION).text, range(8)))
    assert answers == ["yes"] * 8
    assert server.most_at_once <= 2


def test_a_budget_of_a_run_ends_it_before_a_question_leaves():
    settings = ModelSettings(tokens_per_run=700, answer_tokens=200)
    with served(in_turn(say(tokens=(250, 50))), settings=settings) as (client, server):
        client.ask(QUESTION)
        client.ask(QUESTION)
        with pytest.raises(BudgetExceeded, match="tokens_per_run"):
            client.ask(QUESTION)
        assert len(server.questions) == 2
        assert client.budget.run.tokens == 600


def test_a_budget_of_a_day_outlives_the_process_and_ends_with_the_day(tmp_path):
    clock = [datetime(2026, 5, 8, 23, 59, tzinfo=UTC).timestamp()]
    settings = ModelSettings(cost_per_day=0.01, price_in=10.0, price_out=30.0)
    for _ in range(2):
        spending = BudgetTracker(tmp_path / "spending.db", settings, lambda: clock[0])
        spending.reserve(400, 0.004)
        spending.close()
    spending = BudgetTracker(tmp_path / "spending.db", settings, lambda: clock[0])
    with pytest.raises(BudgetExceeded, match="cost_per_day"):
        spending.reserve(400, 0.004)
    clock[0] += 120
    spending.reserve(400, 0.004)
    assert spending.today().tokens == 400
    spending.close()


def test_a_question_that_nobody_took_costs_nothing_and_one_that_broke_off_all():
    settings = ModelSettings(attempts=1, seconds=0.2, answer_tokens=100)
    late = say()
    late.delay = 2
    with served(in_turn(Reply(b"", 503), late), settings=settings) as (client, _):
        with pytest.raises(ModelUnavailable):
            client.ask(QUESTION)
        assert client.budget.today().tokens == 0
        with pytest.raises(ModelUnavailable):
            client.ask(QUESTION)
        assert client.budget.today().tokens > 100


def test_closing_ends_who_waits():
    busy = Reply(b"", 429, {"Retry-After": "60"})
    with served(in_turn(busy)) as (client, server):
        found: list[BaseException] = []

        def ask() -> None:
            try:
                client.ask(QUESTION)
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.questions:
            thread.join(0.01)
        client.close()
        thread.join(20)
        assert not thread.is_alive()
        assert isinstance(found[0], AlreadyClosed)


def test_closing_ends_who_waits_for_an_answer():
    slow = Reply(say("late").body, delay=20)
    with served(in_turn(slow)) as (client, server):
        found: list[BaseException] = []

        def ask() -> None:
            try:
                client.ask(QUESTION)
            except Exception as error:
                found.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not server.questions:
            thread.join(0.01)
        client.close()
        thread.join(10)
        assert not thread.is_alive()
        assert isinstance(found[0], AlreadyClosed)
        # What becomes of the question is not known, so it counts as answered.
        assert client.budget.run.tokens > 100


def test_a_key_is_sent_and_shown_nowhere(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "spending.db"
    script = in_turn(say(), Reply(b"", 401))
    with served(script, key=" env:MODEL_KEY", path=path) as (client, server):
        client.ask(QUESTION)
        with pytest.raises(ModelUnavailable) as told:
            client.ask(QUESTION)
        assert server.keys == [f"Bearer {KEY}"] * 2
        shown = f"{told.value} {client.accounts} {client.counts} {caplog.text}"
    assert KEY not in shown
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_key_may_stand_in_a_file(tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    settings = ModelSettings(accounts=(f"https://models.example/v1 m file:{tmp_path / 'key'}",))
    (account,) = load_accounts(settings, {})
    assert account.headers == {"Authorization": f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("account", "told"),
    [
        ("", "give 'URL MODEL"),
        ("https://models.example/v1", "give 'URL MODEL"),
        ("models.example m", "not a valid http or https address"),
        ("ftp://models.example m", "not a valid http or https address"),
        (f"https://ada:{KEY}@models.example/v1 m", "must not contain credentials"),
        (f"https://models.example/v1 m {KEY}", "never the key itself"),
        (f"https://models.example/v1 m key:{KEY}", "never the key itself"),
        ("https://models.example/v1 m env:NOT_SET", "NOT_SET is not set"),
        ("https://models.example/v1 m env:EMPTY", "EMPTY is not set"),
        ("https://models.example/v1 m file:/no/such/file", "cannot be read"),
        ("http://models.example/v1 m env:MODEL_KEY", "over https only"),
        ("https://models.example/v1 m env:ODD", "not a valid key"),
    ],
)
def test_an_account_that_is_written_wrongly_is_told_without_its_key(account, told):
    environment = {"MODEL_KEY": KEY, "EMPTY": " ", "ODD": f"{KEY}\r\nX-Other: 1"}
    with pytest.raises(InvalidInput, match=told) as error:
        load_accounts(ModelSettings(accounts=(account,)), environment)
    assert KEY not in str(error.value)


def test_without_accounts_it_says_where_they_are_written():
    with pytest.raises(InvalidInput, match=r"recollect\.toml"):
        load_accounts(ModelSettings(), {})
