"""Backfills: a scripted model reads the past by platform, in episodes, whatever interrupts it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import pytest

from recollect.home.home_directory import Home
from recollect.schemas.errors import Busy, InvalidInput
from recollect.schemas.times import format_time
from recollect.streams.system.locks import exclusive
from recollect.streams.writing.backfill_episodes import SizedMessage, episodes_by_platform
from tests.cli.kit import Shell
from tests.memory import Memory
from tests.service.kit import served
from tests.writing.conftest import writing_home
from tests.writing.model_server import Body, ModelServer, Reply, Script, model_server, say
from tests.writing.scripts import message_of, results_of

START = 1_714_557_600_000
MINUTE = 60_000
#: About 2,100 tokens, so that two messages are an episode.
PADDING = " " + "la " * 2_070
PLATFORMS = ("imessage", "slack")
#: Of a question and of an answer, as the scripted model counts them.
TOKENS = (2_000, 50)
pytestmark = pytest.mark.usefixtures("nothing_salient")


_UNITS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@contextmanager
def home_with_model(
    place: Path, script: Script, **settings: object
) -> Iterator[tuple[Memory, ModelServer]]:
    with writing_home(place, script, context=2, **settings) as opened:
        yield opened


def ferry(number: int) -> str:
    return f"The {_spoken(number)} ferry is on Mondays at Quayside Yard."


def bakery(number: int) -> str:
    return f"The {_spoken(number)} bakery is on Tuesdays at Quayside Yard."


def _spoken(number: int) -> str:
    """Return a number in words: the rules would keep a sentence with digits themselves."""
    return f"{'twenty ' * (number // 10)}{_UNITS[number % 10]}".strip() or "zero"


def number_of(body: Body) -> int:
    """Return the number of the message in a prompt: the minutes since the first one."""
    said_at = datetime.fromisoformat(message_of(body)["said_at"])
    return round(said_at.timestamp() * 1_000 - START) // MINUTE


def remembering(body: Body) -> Reply:
    """Keep one of a message's two sentences: which one depends on all that is remembered."""
    results = results_of(body)
    if not results:
        query = {"query": "Quayside Yard", "params": {"scope": ["facts"], "max_results": 10}}
        return say("", ("recall", query), tokens=TOKENS)
    if len(results) > 1:
        return say("done", tokens=TOKENS)
    number, remembered = number_of(body), [each["text"] for each in results[0]["results"]]
    is_odd = crc32(repr((number, remembered)).encode()) % 2
    text = ferry(number) if is_odd else bakery(number)
    fact = {"text": text, "metadata": {"evidence": text}}
    return say("", ("insert_fact", fact), tokens=TOKENS)


def history(per_platform: int, platforms: tuple[str, ...] = PLATFORMS) -> list[dict[str, Any]]:
    """Return messages a minute apart, of all platforms in turn."""
    return [
        {
            "platform": platform,
            "id": f"{platform}-{number}",
            "sender_id": f"ada@{platform}",
            "sender_name": "Ada",
            "occurred_at": format_time(START + number * MINUTE),
            "content": f"{ferry(number)} {bakery(number)}{PADDING}",
        }
        for number in range(per_platform)
        for platform in platforms
    ]


def ingest(place: Path, events: list[dict[str, Any]]) -> None:
    Home.create_or_open(place, without_encoder=True, writer="model")
    with Memory(place) as memory:
        assert memory.ingest(events).new == len(events)


def digest(place: Path) -> str:
    """Return a hash of what a zone's memory says, without when it was written."""
    with Memory(place) as memory:
        kinds = {
            word for fact in memory.facts() for word in ("ferry", "bakery") if word in fact.text
        }
        assert kinds == {"ferry", "bakery"}, "what is written does not depend on what is known"
        facts = sorted(
            (fact.id, fact.text, str(fact.as_of), sorted(fact.entities), fact.source_event_ids)
            for fact in memory.facts(limit=1_000, superseded=True)
        )
        entities = sorted((each.id, each.name, each.type) for each in memory.entities(limit=1_000))
        assert memory.verify().ok
    return hashlib.sha256(json.dumps([facts, entities]).encode()).hexdigest()


def asked(server: ModelServer) -> list[tuple[str, int]]:
    """Return (platform, number) of the messages in the order of their first questions."""
    first = [body for body in server.questions if len(body["messages"]) == 2]
    return [(message_of(body)["platform"], number_of(body)) for body in first]


def calm(place: Path, events: list[dict[str, Any]]) -> tuple[str, int]:
    """Return the digest after a backfill that nothing interrupts, and how often it asked."""
    ingest(place, events)
    with home_with_model(place, remembering) as (memory, server):
        assert memory.backfill().state == "done"
        asked_ = len(server.questions)
    return digest(place), asked_


def test_episodes_have_four_to_eight_thousand_tokens() -> None:
    chance = random.Random(7)
    messages = [
        (chance.choice(PLATFORMS), SizedMessage(number * chance.randrange(1, 9), number, tokens))
        for number, tokens in enumerate(chance.choices((3, 40, 300, 2_500, 9_000), k=3_000))
    ]
    found = episodes_by_platform(messages)
    for platform, episodes in found.items():
        inside = [one for episode in episodes for one in episode.messages]
        assert inside == sorted(one for name, one in messages if name == platform)
        for number, episode in enumerate(episodes[:-1]):
            following = episodes[number + 1].messages[0].tokens
            assert episode.tokens <= 8_000 or len(episode.messages) == 1
            assert episode.tokens >= 4_000 or episode.tokens + following > 8_000


def test_episodes_left_stay_the_same_when_some_are_done() -> None:
    chance = random.Random(3)
    messages = [
        ("slack", SizedMessage(number * 10 + chance.randrange(10), number, chance.randrange(900)))
        for number in range(2_000)
    ]
    episodes = episodes_by_platform(messages)["slack"]
    for done in (1, 17, len(episodes) - 1):
        left = [("slack", one) for episode in episodes[done:] for one in episode.messages]
        assert episodes_by_platform(left)["slack"] == episodes[done:]


def test_an_episode_ends_at_the_longest_pause() -> None:
    times = [0, 1, 2, 3, 4, 5, 90, 91, 92, 93, 94, 95]
    messages = [("irc", SizedMessage(at, at, 1_000)) for at in times]
    first, *_ = episodes_by_platform(messages)["irc"]
    assert [one.occurred_at for one in first.messages] == [0, 1, 2, 3, 4, 5]


def test_platforms_are_read_side_by_side_each_in_order(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, list(reversed(history(8))))
    with home_with_model(place, remembering) as (memory, server):
        report = memory.backfill()
    assert (report.state, report.episodes, report.episodes_done) == ("done", 8, 8)
    assert report.written.processed == report.messages == report.messages_done == 16
    order = asked(server)
    assert sorted(order[:4]) == [(platform, number) for platform in PLATFORMS for number in (0, 1)]
    for platform in PLATFORMS:
        episodes = [number // 2 for name, number in order if name == platform]
        assert episodes == sorted(episodes)


def test_only_the_platform_and_span_are_read(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(6))
    first, last = format_time(START + 2 * MINUTE), format_time(START + 4 * MINUTE)
    with home_with_model(place, remembering) as (memory, server):
        report = memory.backfill(platform="slack", first=first, last=last)
        assert (report.messages, report.first, report.last) == (3, first, last)
        assert sorted(asked(server)) == [("slack", 2), ("slack", 3), ("slack", 4)]
        assert memory.backfill(platform="slack", last="2024-04-30").messages == 0
        # A date includes its day.
        assert memory.backfill(platform="slack", last="2024-05-01").messages == 3
        with pytest.raises(InvalidInput, match="did you mean slack"):
            memory.backfill(platform="slak")
        assert memory.backfill().messages == 6


@pytest.mark.slow
def test_ten_kills_end_as_a_calm_backfill(tmp_path: Path) -> None:
    events = history(24)
    expected, _ = calm(tmp_path / "calm", events)
    place = tmp_path / "killed"
    ingest(place, events)
    chance = random.Random(11)
    points = ["append.committed", "commit.locked", "commit.produced", "commit.memory"]
    kills: list[str | int] = [*points, *(chance.randrange(1, 9) for _ in range(6))]
    chance.shuffle(kills)
    running: list[subprocess.Popen[bytes]] = []
    countdown = [0]
    lock = threading.Lock()

    def script(body: Body) -> Reply:
        with lock:
            countdown[0] -= 1
            if countdown[0] == 0:
                # Between two questions, or while an answer is recorded or committed.
                delay = chance.choice((0.0, 0.0, 0.02, 0.1))
                threading.Timer(delay, running[-1].kill).start()
        return remembering(body)

    with model_server(script) as server:
        _configure(place, server)
        for kill in kills:
            countdown[0] = kill if isinstance(kill, int) else 0
            running.append(_backfill_process(place, kill if isinstance(kill, str) else ""))
            running[-1].wait()
            assert running[-1].returncode == -signal.SIGKILL, kill
        countdown[0] = 0
        last = _backfill_process(place, "", "--resume")
        assert last.wait() == 0
    assert digest(place) == expected


def _configure(place: Path, *servers: ModelServer) -> None:
    accounts = ", ".join(f'"{server.url} scripted"' for server in servers)
    (place / "recollect.toml").write_text(
        f"[model]\naccounts = [{accounts}]\nattempts = 3\ncontext = 2\n"
    )


def _backfill_process(place: Path, failpoint: str, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(place), "backfill", *options],
        env=os.environ | ({"RECOLLECT_FAILPOINT": failpoint} if failpoint else {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_pause_holds_over_a_restart(tmp_path: Path) -> None:
    events = history(8)
    expected, calls = calm(tmp_path / "calm", events)
    place = tmp_path / "home"
    ingest(place, events)
    pausing: list[Memory] = []

    def script(body: Body) -> Reply:
        if pausing and number_of(body) == 5:
            pausing.pop().pause_backfill()
        return remembering(body)

    with home_with_model(place, script) as (memory, server):
        pausing.append(memory)
        report = memory.backfill(last="2024-05-01")
        assert (report.state, report.written.stopped) == ("paused", None)
        assert 0 < report.episodes_done < report.episodes
        before = len(server.questions)
    with home_with_model(place, remembering) as (memory, server):
        assert memory.backfill_status().state == "paused"
        with pytest.raises(InvalidInput, match="`resume`"):
            memory.backfill()
        assert server.questions == []
        report = memory.backfill(resume=True)
        assert (report.state, report.last) == ("done", "2024-05-01T23:59:59.999Z")
        assert memory.backfill_status().state == "done"
        # What the unfinished episode had answered is not asked again.
        assert before + len(server.questions) == calls
    assert digest(place) == expected


def test_a_budget_stops_it_and_it_continues_without_paying_twice(tmp_path: Path) -> None:
    events = history(6)
    expected, calls = calm(tmp_path / "calm", events)
    place = tmp_path / "home"
    ingest(place, events)
    budget, runs, total = 45_000, 0, 0
    while True:
        with home_with_model(
            place, remembering, tokens_per_run=budget, answer_tokens=100, concurrency=1
        ) as (memory, server):
            report = memory.backfill(resume=runs > 0)
            total += len(server.questions)
        runs += 1
        assert report.written.tokens <= budget
        if report.state == "done":
            break
        assert "tokens_per_run" in report.written.stopped
        assert server.questions, "it makes no progress"
    assert runs > 1
    assert total == calls
    assert digest(place) == expected


@contextmanager
def home_with_two_accounts(
    place: Path, one: Script, other: Script
) -> Iterator[tuple[Memory, ModelServer, ModelServer]]:
    with model_server(one) as a, model_server(other) as b:
        _configure(place, a, b)
        with Memory(place) as memory:
            yield memory, a, b


def limited(to: int) -> Script:
    """Return a script that answers some questions, and then asks to wait for an hour."""
    left = [to]

    def script(body: Body) -> Reply:
        left[0] -= 1
        if left[0] < 0:
            return Reply(b"", 429, {"Retry-After": "3600"})
        return remembering(body)

    return script


def test_an_exhausted_account_is_replaced_by_the_next(tmp_path: Path) -> None:
    events = history(4)
    expected, calls = calm(tmp_path / "calm", events)
    place = tmp_path / "home"
    ingest(place, events)
    with home_with_two_accounts(place, limited(3), remembering) as (memory, one, other):
        assert memory.backfill().state == "done"
        assert len(one.questions) < len(other.questions)
        assert 3 + len(other.questions) == calls
    assert digest(place) == expected


def test_when_all_accounts_are_exhausted_it_stops_and_can_be_resumed(tmp_path: Path) -> None:
    events = history(6)
    expected, _ = calm(tmp_path / "calm", events)
    place = tmp_path / "home"
    ingest(place, events)
    with home_with_two_accounts(place, limited(8), limited(8)) as (memory, *_):
        report = memory.backfill()
        assert report.state == "stopped"
        assert "no model will answer before" in report.written.stopped
        assert 0 < report.episodes_done < report.episodes
    with home_with_two_accounts(place, remembering, remembering) as (memory, *_):
        assert memory.backfill(resume=True).state == "done"
    assert digest(place) == expected


def test_a_second_backfill_says_that_one_is_running(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(2))
    with home_with_model(place, remembering) as (memory, server):
        with exclusive(place / "zones" / "default" / "backfill.lock"):
            assert memory.backfill_status().state == "running"
            with pytest.raises(Busy, match="is running"):
                memory.backfill()
        assert server.questions == []
        assert memory.backfill().messages_done == 4
        assert memory.backfill().messages == 0


def test_a_failing_progress_callback_ends_it_and_it_continues(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(4))
    with home_with_model(place, remembering) as (memory, _):

        def cancelled(count: int) -> None:
            if memory.backfill_status().episodes_done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.backfill(progress=cancelled)
        found = memory.backfill_status()
        assert (found.state, found.episodes_done) == ("stopped", 2)
        report = memory.backfill(resume=True)
        assert (report.state, report.messages) == ("done", 4)


def test_a_dry_run_counts_episodes_and_asks_nothing(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(8))
    with home_with_model(place, remembering, price_in=2.0, price_out=8.0) as (memory, server):
        found = memory.backfill(dry_run=True)
        assert server.questions == []
        assert (found.state, found.episodes, found.messages) == ("estimate", 8, 16)
        by_platform = {each.platform: each for each in found.platforms}
        assert set(by_platform) == set(PLATFORMS)
        assert all(each.tokens // each.episodes in range(4_000, 8_001) for each in found.platforms)
        assert by_platform["slack"].last == format_time(START + 7 * MINUTE)
        price = found.written
        assert 0 < price.min_tokens < price.tokens
        assert 0 < price.min_cost < price.cost
        assert price.min_calls <= memory.backfill().written.calls <= price.calls
        assert memory.backfill(dry_run=True).episodes == 0


def test_without_a_model_there_is_nothing_left_to_read(tmp_path: Path) -> None:
    place = tmp_path / "home"
    Home.create_or_open(place, without_encoder=True)
    with Memory(place) as memory:
        memory.ingest(history(3))
        plan = memory.backfill(dry_run=True)
        assert (plan.state, plan.model, plan.written) == ("estimate", None, None)
        done = memory.backfill(platform="slack")
        assert (done.state, done.messages, done.messages_done) == ("done", 3, 3)


def test_the_command_prints_plan_pause_and_progress(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(4))
    shell = Shell(tmp_path)

    def run(*options: str) -> Any:
        return shell("backfill", *options)

    with model_server(remembering) as server:
        _configure(place, server)
        plan = run("--platform", "slack", "--from", "2024-05-01", "--to", "2024-05-01", "--dry-run")
        assert plan.status == 0
        assert "slack  2 episodes, 4 messages" in plan.out
        (paused,) = run("--pause", "--json").json()
        assert paused["state"] == "paused"
        refused = run()
        assert (refused.status, "give --resume" in refused.err) == (2, True)
        resumed = run("--resume", "--platform", "slack")
        assert resumed.status == 0
        assert "done  2 of 2 episodes" in resumed.out
        assert "1 of 2 episodes" in resumed.err
        (status,) = run("--status", "--json").json()
        assert (status["state"], status["platform"], status["messages_done"]) == (
            "done",
            "slack",
            4,
        )
        assert run("--pause", "--resume").status == 2


def test_a_service_shows_pauses_and_resumes_it(tmp_path: Path) -> None:
    place = tmp_path / "home"
    ingest(place, history(8))
    reached, goes_on = threading.Event(), threading.Event()

    def script(body: Body) -> Reply:
        if number_of(body) >= 4:
            reached.set()
            goes_on.wait(60)
        return remembering(body)

    with model_server(script) as server:
        _configure(place, server)
        with (place / "recollect.toml").open("a") as settings:
            settings.write("background = false\n")
        with served(place) as service, service.client("default") as client:
            zone = "/v1/zones/default"
            started = client.post(f"{zone}/backfill", json={})
            assert reached.wait(60)
            running = client.get(f"{zone}/backfill").json()
            assert (running["state"], running["episodes_done"]) == ("running", 4)
            assert running["rate"] > 0
            assert client.post(f"{zone}/backfill/pause").status_code == 200
            goes_on.set()
            # The episodes whose messages are all being read are finished.
            found = _outcome(client, started)
            assert (found["state"], found["episodes_done"]) == ("paused", 6)
            refused = _outcome(client, client.post(f"{zone}/backfill", json={}))
            assert "`resume`" in refused["detail"]
            resumed = client.post(f"{zone}/backfill", json={"resume": True})
            found = _outcome(client, resumed)
            assert (found["state"], found["messages_done"]) == ("done", 4)


def _outcome(client: httpx.Client, started: httpx.Response) -> Any:
    """Return the result of an operation, or the operation if it failed, from its progress."""
    stream = client.get(f"{started.headers['Location']}/progress").text
    events = [line.removeprefix("data: ") for line in stream.splitlines() if line[:5] == "data:"]
    last = json.loads(events[-1])
    return last if last["state"] == "failed" else last["result"]
