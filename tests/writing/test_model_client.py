"""The model client: rotation of accounts, retries, timeouts, budgets, and no key shown."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.schemas.errors import AlreadyClosed, InvalidInput
from recollect.streams.models.budget_tracker import BudgetTracker, SpendingLimitExceeded
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient, ModelUnavailable, PromptRejected
from recollect.streams.models.model_settings import ModelSettings, load_accounts
from recollect.streams.writing.writer_tools import TOOLS
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


def error(message: str, status: int = 400, **more: object) -> Reply:
    return Reply(json.dumps({"error": {"message": message, **more}}).encode(), status)


RENAMED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
#: A service's complaint, and the parameters that the request after it lacks and has.
COMPLAINTS = {
    "renamed": (error(RENAMED, param="max_tokens"), "max_tokens", "max_completion_tokens"),
    "named in words alone": (error(RENAMED), "max_tokens", "max_completion_tokens"),
    "fixed temperature": (
        error("Unsupported value: 'temperature' does not support 0 with this model."),
        "temperature",
        "max_tokens",
    ),
    "unknown choice": (
        error("tool_choice: extra inputs are not permitted"),
        "tool_choice",
        "tools",
    ),
    "choice in words": (
        error('"auto" tool choice requires --enable-auto-tool-choice to be set'),
        "tool_choice",
        "tools",
    ),
    "of a validator": (
        Reply(b'{"detail": [{"loc": ["body", "tool_choice"], "msg": "extra fields"}]}', 422),
        "tool_choice",
        "tools",
    ),
    "text alone": (Reply(b"unknown field: temperature", 400), "temperature", "max_tokens"),
    "an error as text": (
        Reply(b'{"error": "model gemma does not support tools"}', 400),
        "tools",
        "max_tokens",
    ),
    "with status 200": (
        error("unknown parameter", 200, param="temperature", code=400),
        "temperature",
        "max_tokens",
    ),
}


@pytest.mark.parametrize("kind", COMPLAINTS)
def test_a_rejected_parameter_is_left_out_from_then_on(kind: str) -> None:
    """Fault 30."""
    complaint, gone, there = COMPLAINTS[kind]
    question = ChatRequest(({"role": "system", "content": "Write."}, *QUESTION.messages), TOOLS)
    with served(in_turn(complaint, say("well")), settings=ModelSettings(attempts=1)) as (
        client,
        server,
    ):
        assert [client.ask(question).text for _ in range(2)] == ["well", "well"]
    first, *later = server.questions
    assert gone in first
    assert len(later) == 2
    for body in later:
        assert gone not in body
        assert there in body
        assert ("insert_fact" in body["messages"][0]["content"]) == (gone == "tools")
        assert body["messages"][-1] == QUESTION.messages[0]


def test_parameters_are_rejected_one_after_the_other() -> None:
    """Fault 30: a model that reasons rejects several."""
    wants = error(RENAMED), error("temperature is not supported"), error("max_completion_tokens?")
    with served(in_turn(*wants, say("well"))) as (client, server):
        assert client.ask(QUESTION).text == "well"
    assert server.questions[-1].keys() == {"model", "messages"}


def test_a_parameter_that_stays_rejected_ends_in_the_services_words() -> None:
    """Fault 30."""
    with (
        served(in_turn(error("max_tokens must be positive"))) as (client, server),
        pytest.raises(PromptRejected, match="max_tokens must be positive"),
    ):
        client.ask(QUESTION)
    assert len(server.questions) == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error("This model's maximum context length is 8192 tokens."), "maximum context length"),
        (Reply(b'{"message": "model not found"}', 404), "model not found"),
        (Reply(b"<html><title>413 Request Too Large</title><p>nginx", 413), "413 Request Too"),
        (error("The engine is overloaded.", 503), "The engine is overloaded."),
        (error("Incorrect API key provided.", 401), "Incorrect API key"),
        (error("Rate limit reached for tokens per min.", 429), "tokens per min"),
        (error("Provider returned error", 200, code=502), "Provider returned error"),
    ],
)
def test_an_error_shows_the_services_words(reply: Reply, words: str) -> None:
    """Fault 30."""
    settings = ModelSettings(attempts=1)
    with served(in_turn(reply), settings=settings) as (client, _):
        with pytest.raises(ModelUnavailable, match=words):
            client.ask(QUESTION)
        assert words not in str(client.counts)


def test_an_error_shows_neither_the_key_nor_the_conversation() -> None:
    """Fault 30: some services repeat what they reject."""
    asked = ChatRequest(({"role": "user", "content": "Ada hid the spare key under the oak."},))
    echo = error(f"Bad key {KEY}; input was 'Ada hid the spare key under the oak.' Sorry.")
    with (
        served(in_turn(echo), key=" env:MODEL_KEY") as (client, _),
        pytest.raises(PromptRejected) as told,
    ):
        client.ask(asked)
    assert "input was '….' Sorry." in str(told.value)
    for word in (KEY, "Ada", "oak"):
        assert word not in str(told.value)


@pytest.mark.parametrize("asked", [{"Retry-After": "3600"}, {"retry-after-ms": "3600000"}, "date"])
def test_an_account_that_asks_for_an_hour_is_left_alone(asked) -> None:
    """Fault 31."""
    if asked == "date":
        at = datetime.now(UTC) + timedelta(hours=1)
        asked = {"Retry-After": at.strftime("%a, %d %b %Y %H:%M:%S GMT")}
    with served(in_turn(Reply(b"", 429, asked), say("early"))) as (client, server):
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match=r"before \d\d:\d\d:\d\d UTC"):
                client.ask(QUESTION)
        assert len(server.questions) == 1
        with client_of(server) as next_client:
            next_client.adopt_cooldowns(client)
            with pytest.raises(ModelUnavailable, match="Retry-After"):
                next_client.ask(QUESTION)
        assert len(server.questions) == 1


@pytest.mark.parametrize("value", ["-5", "nan", "inf", "soon", "", "0.01"])
def test_a_wait_that_makes_no_sense_is_none(value: str) -> None:
    """Fault 31."""
    with served(in_turn(Reply(b"", 429, {"Retry-After": value}), say("now"))) as (client, _):
        assert client.ask(QUESTION).text == "now"


@pytest.mark.parametrize(
    "page",
    [
        Reply(b"<html><h1>Bad gateway</h1></html>"),
        Reply(b"upstream error"),
        Reply(b""),
        error("Overloaded", 200, code=503),
        Reply(b'{"error": "no capacity"}'),
    ],
)
def test_an_error_page_costs_nothing(page: Reply) -> None:
    """Fault 31."""
    settings = ModelSettings(attempts=1, tokens_per_run=10_000)
    with served(in_turn(page), settings=settings) as (client, _):
        with pytest.raises(ModelUnavailable):
            client.ask(QUESTION)
        assert client.budget.run.tokens == 0


@pytest.mark.parametrize("finish", ["length", "max_tokens", "content_filter"])
@pytest.mark.parametrize("text", ["", "<think>Let me see whether"])
def test_an_answer_that_is_cut_off_is_an_error_with_its_reason(finish: str, text: str) -> None:
    """Fault 29."""
    with served(in_turn(say(text, finish=finish, tokens=(100, 20)))) as (client, _):
        with pytest.raises(PromptRejected, match=f"finish reason '{finish}'"):
            client.ask(QUESTION)
        # It was generated.
        assert client.budget.run.tokens == 120


def test_of_an_answer_that_is_cut_off_its_whole_calls_count() -> None:
    """Fault 29."""
    whole = ("recall", {"query": "Ada"})
    with served(
        in_turn(
            say("", whole, ("insert_fact", '{"text": "Ad'), finish="length"),
            say("", ("insert_fact", '{"text": "Ad'), finish="length"),
        )
    ) as (client, _):
        assert [call.name for call in client.ask(QUESTION).calls] == ["recall"]
        with pytest.raises(PromptRejected, match="answer_tokens"):
            client.ask(QUESTION)


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
        with pytest.raises(SpendingLimitExceeded, match="tokens_per_run"):
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
    with pytest.raises(SpendingLimitExceeded, match="cost_per_day"):
        spending.reserve(400, 0.004)
    clock[0] += 120
    spending.reserve(400, 0.004)
    assert spending.today().tokens == 400
    spending.close()


def test_a_question_that_nobody_took_costs_nothing_and_one_that_broke_off_all():
    settings = ModelSettings(attempts=1, answer_tokens=100)
    with served(in_turn(Reply(b"", 503)), settings=settings) as (client, _):
        with pytest.raises(ModelUnavailable):
            client.ask(QUESTION)
        assert client.budget.today().tokens == 0
    late = say()
    late.delay = 2
    settings = ModelSettings(attempts=1, answer_tokens=100, seconds=0.2)
    with served(in_turn(late), settings=settings) as (client, _):
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
        ("http://models.example/v1 m env:MODEL_KEY", "never sent to another machine over http"),
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
