"""A model answers over a long context by code, within its limits, from a script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import InferenceEvent, InvalidInput, MemoryInput, UnknownId
from tests.library.kit import said
from tests.service.kit import Served, served
from tests.writing.conftest import writing_home
from tests.writing.model_server import Body, ModelServer, Reply, Script, model_server, say

WORDS = "the heron stood still. " * 20_000


def script(*replies: str) -> Callable[[Body], Reply]:
    """Return a script that gives these replies in order, then the last again."""
    left = list(replies)

    def answer(_: Body) -> Reply:
        return say(left.pop(0) if len(left) > 1 else left[0])

    return answer


def code(text: str) -> str:
    return f"I will run this.\n```python\n{text}\n```"


def sent(zone: Any, *texts: str) -> None:
    zone.ingest([said(f"m{place}", text, minute=place) for place, text in enumerate(texts)])


class TestRLM:
    """The seed's class of tests."""

    def test_code_reads_a_context_that_the_model_never_sees(self, tmp_path: Path) -> None:
        replies = script(code("print(len(context))"), code("FINAL(context.count('heron'))"))
        with writing_home(tmp_path, replies) as (memory, server):
            sent(memory, "I keep bees.")
            found = memory.infer("How many herons?", context=WORDS)
        assert (found.status, found.answer, found.iterations) == ("success", "20000", 2)
        assert found.steps[0].output == f"{len(WORDS)}\n"
        assert found.total_tokens == 2 * 120
        assert max(len(json.dumps(body)) for body in server.questions) < 10_000
        shown = server.questions[1]["messages"][-1]["content"]
        assert str(len(WORDS)) in shown

    def test_it_searches_and_reads_the_memory(self, tmp_path: Path) -> None:
        replies = script(
            code("for hit in nexus_search('bees', limit=1): print(nexus_read(hit['id']))"),
            code("FINAL(nexus_read('m1', start=2, length=4))"),
        )
        with writing_home(tmp_path, replies) as (memory, _):
            sent(memory, "I keep bees in Oslo.", "I sold my boat.")
            found = memory.infer("Who keeps bees?")
        assert "bees" in found.steps[0].output
        assert found.answer == "sold"
        assert set(found.sources) == {"m0", "m1"}

    def test_paths_add_texts_to_the_context(self, tmp_path: Path) -> None:
        replies = script(code("FINAL(context)"))
        with writing_home(tmp_path, replies) as (memory, _):
            sent(memory, "I keep bees.", "I sold my boat.")
            found = memory.infer("What?", context_paths=["m0", "/objs/memory/m1"])
            assert "I keep bees." in found.answer
            assert "I sold my boat." in found.answer
            assert found.sources == ["m0", "m1"]
            with pytest.raises(UnknownId):
                memory.infer("What?", context_paths=["gone"])

    def test_virtual_paths_and_directories_are_read_too(self, tmp_path: Path) -> None:
        path = "/memory/by-user/ada/people/drink"
        replies = script(code(f"FINAL(context + nexus_read({path!r}))"))
        with writing_home(tmp_path, replies) as (memory, _):
            for key, text in (("drink", "Ada prefers tea."), ("food", "Ada prefers rice.")):
                memory.store_memories(
                    [MemoryInput(content=text, user_id="ada", namespace="people", path_key=key)]
                )
            found = memory.infer("What?", context_paths=["/memory/by-user/ada/"])
            assert found.answer is not None
            assert found.answer.count("Ada prefers tea.") == 2
            assert "Ada prefers rice." in found.answer
            with pytest.raises(UnknownId):
                memory.infer("What?", context_paths=["/memory/by-user/bob/"])

    def test_consolidated_memories_are_read_too(self, tmp_path: Path) -> None:
        replies = script(code("FINAL(context)"))
        texts = ["Ada prefers green tea.", "Ada drinks tea at four."]
        with writing_home(tmp_path, replies) as (memory, _):
            memory.store_memories(
                [MemoryInput(content=text, user_id="ada", namespace="people") for text in texts]
            )
            (level,) = memory.consolidate_memories(method="criteria").levels
            (id_,) = level.memory_ids
            for path in (f"/objs/memory/{id_}", "/memory/by-user/ada/"):
                found = memory.infer("What?", context_paths=[path])
                heading = found.answer.partition("\n")[0] if found.answer else ""
                assert (heading == f"== {path}") is path.endswith(id_)
                assert all(text in (found.answer or "") for text in texts)
                assert len(found.sources) == 2

    def test_it_asks_itself_about_parts(self, tmp_path: Path) -> None:
        def answer(body: Body) -> Reply:
            if len(body["messages"]) == 1:
                return say(body["messages"][0]["content"].split()[-1].upper(), tokens=(7, 1))
            return say(code("FINAL(' '.join(llm_query('Repeat: ' + w) for w in context.split()))"))

        with writing_home(tmp_path, answer) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("Which?", context="alpha beta")
        assert found.answer == "ALPHA BETA"
        assert found.total_tokens == 120 + 2 * 8

    def test_a_reply_without_code_is_the_answer(self, tmp_path: Path) -> None:
        with writing_home(tmp_path, script("It is Oslo.")) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("Where?")
        assert (found.status, found.answer) == ("success", "It is Oslo.")

    @pytest.mark.parametrize(
        ("reply", "limits", "status"),
        [
            (code("print(1)"), {"max_iterations": 3}, "max_iterations"),
            (code("print(1)"), {"max_total_tokens": 200}, "max_tokens"),
            (code("[llm_query('a') for _ in range(9)]"), {"max_total_tokens": 300}, "max_tokens"),
            (code("while True: pass"), {"max_duration_seconds": 2.0}, "timeout"),
            (code("import os; os._exit(1)"), {}, "failed"),
        ],
    )
    def test_a_limit_ends_it_and_is_named(
        self, reply: str, limits: dict[str, Any], status: str, tmp_path: Path
    ) -> None:
        with writing_home(tmp_path, script(reply)) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("What?", **limits)
        assert (found.status, found.answer) == (status, "")
        assert found.total_tokens <= 360

    def test_a_slow_model_is_not_awaited_beyond_the_limit(self, tmp_path: Path) -> None:
        def slow(_: Body) -> Reply:
            reply = say("late")
            reply.delay = 4.0
            return reply

        with writing_home(tmp_path, slow) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("What?", max_duration_seconds=1.0)
        assert found.status == "timeout"

    def test_an_error_of_the_code_is_shown_to_the_model(self, tmp_path: Path) -> None:
        replies = script(code("print(1 / 0)"), code("FINAL('mended')"))
        with writing_home(tmp_path, replies) as (memory, server):
            sent(memory, "I keep bees.")
            found = memory.infer("What?")
        assert found.answer == "mended"
        assert "ZeroDivisionError" in server.questions[1]["messages"][-1]["content"]

    def test_a_failing_model_fails_it_with_its_words(self, tmp_path: Path) -> None:
        with writing_home(tmp_path, lambda _: Reply(b"{}", status=500), attempts=1) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("What?")
        assert found.status == "failed"
        assert "500" in (found.error or "")

    def test_nothing_is_stored(self, tmp_path: Path) -> None:
        with writing_home(tmp_path, script(code("FINAL(nexus_search('bees'))"))) as (memory, _):
            sent(memory, "I keep bees.")
            before = memory.head()
            memory.infer("What?")
            assert memory.head() == before

    def test_events_come_in_order(self, tmp_path: Path) -> None:
        events: list[InferenceEvent] = []
        replies = script(code("print(1)"), code("FINAL(2)"))
        with writing_home(tmp_path, replies) as (memory, _):
            sent(memory, "I keep bees.")
            found = memory.infer("What?", progress=events.append)
        one = ["iteration_start", "code_execution", "iteration_complete"]
        assert [each.event for each in events] == [*one, *one, "final_answer"]
        assert events[-1].result == found

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"query": " "}, "query is empty"),
            ({"max_iterations": 0}, "max_iterations is 0"),
            ({"max_total_tokens": -1}, "max_total_tokens is -1"),
            ({"model": "other"}, "model is 'other'; the configured models are scripted"),
        ],
    )
    def test_bad_input_is_named(self, given: dict[str, Any], reason: str, tmp_path: Path) -> None:
        with writing_home(tmp_path, script("x")) as (memory, server):
            sent(memory, "I keep bees.")
            with pytest.raises(InvalidInput, match=reason):
                memory.infer(**{"query": "What?", **given})
        assert server.questions == []


@contextmanager
def serving(home: Path, answers: Script) -> Iterator[tuple[Served, ModelServer]]:
    """Serve a home with a zone `a` and a scripted model."""
    with model_server(answers) as server:
        home.mkdir(exist_ok=True)
        settings = f'[model]\naccounts = ["{server.url} scripted"]\nconcurrency = 9\n'
        (home / "recollect.toml").write_text(settings)
        with served(home) as service:
            with service.client() as client:
                client.post("/v1/zones/a/events", json=said("m1", "I keep bees."))
            yield service, server


class TestServed:
    """The same over HTTP, in one answer and as a stream."""

    def test_it_streams_or_answers_once(self, tmp_path: Path) -> None:
        replies = script(code("print(1)"), code("FINAL(2)"))
        with serving(tmp_path, replies) as (service, _), service.client() as http:
            path = "/v1/zones/a/infer"
            stream = http.post(f"{path}/stream", json={"query": "What?"})
            assert stream.headers["content-type"].startswith("text/event-stream")
            names = [
                line.removeprefix("event: ")
                for line in stream.text.splitlines()
                if line.startswith("event: ")
            ]
            one = ["iteration_start", "code_execution", "iteration_complete"]
            assert names == [*one, *one, "final_answer"]
            assert http.post(path, json={"query": "What?"}).json()["answer"] == "2"
            assert http.post(f"{path}/stream", json={"query": ""}).status_code in (400, 422)
            missing = http.post("/v1/zones/nowhere/infer/stream", json={"query": "What?"})
            assert missing.status_code == 404

    def test_nexus_path_streams_or_answers_once(self, tmp_path: Path) -> None:
        replies = script(code("print(1)"), code("FINAL(2)"))
        with serving(tmp_path, replies) as (service, _), service.client() as http:
            body = {"query": "What?", "context_paths": [], "zone_id": "a", "max_iterations": 15}
            path = "/api/v2/rlm/infer"
            stream = http.post(path, json={**body, "stream": True})
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert stream.text.count("event: iteration_start") == 2
            assert "event: final_answer" in stream.text
            found = http.post(path, json={**body, "stream": False}).json()
            assert {"status", "answer", "total_tokens", "total_duration_seconds", "iterations"} <= {
                *found
            }
            assert (found["status"], found["answer"]) == ("success", "2")
            assert http.post(path, json={**body, "sandbox_provider": "moon"}).status_code == 422

    def test_a_stream_that_its_client_leaves_ends(self, tmp_path: Path) -> None:
        def looping(_: Body) -> Reply:
            time.sleep(0.2)
            return say(code("print(1)"))

        with serving(tmp_path, looping) as (service, server), service.client() as http:
            body = {"query": "What?", "max_iterations": 100}
            with http.stream("POST", "/v1/zones/a/infer/stream", json=body) as stream:
                next(stream.iter_lines())
            asked = -1
            deadline = time.monotonic() + 20
            while asked != len(server.questions):
                assert time.monotonic() < deadline
                asked = len(server.questions)
                time.sleep(2)
            assert asked < 50

    def test_one_too_many_is_refused_at_once(self, tmp_path: Path) -> None:
        release = threading.Event()

        def held(_: Body) -> Reply:
            release.wait(60)
            return say("done")

        with serving(tmp_path, held) as (service, server), service.client() as http:
            path = "/v1/zones/a/infer"
            found: list[httpx.Response] = []

            def ask() -> None:
                with service.client() as own:
                    found.append(own.post(path, json={"query": "What?"}))

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            try:
                while len(server.questions) < 4:
                    assert any(thread.is_alive() for thread in threads)
                    time.sleep(0.01)
                refused = http.post(path, json={"query": "What?"})
                assert refused.status_code == 503
                assert refused.headers["retry-after"]
                assert http.post(f"{path}/stream", json={"query": "What?"}).status_code == 503
                # Other calls are answered meanwhile.
                assert http.get("/v1/zones/a/facts").status_code == 200
            finally:
                release.set()
                for thread in threads:
                    thread.join()
            assert [each.json()["answer"] for each in found] == ["done"] * 4
