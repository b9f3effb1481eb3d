"""OpenAI's own client, wrapped, against a made server: what it is sent, and what is kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

from recollect import Recollect, Zone
from recollect.integrations.openai_client import with_memory
from recollect.integrations.thoughts import strip_reasoning
from tests.library.kit import said

ANSWER = "In Turin, since May."
ASKED: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where do I live?"},
]


def whole(path: str) -> dict[str, Any]:
    """Return an answer as the API gives it."""
    if path.endswith("/chat/completions"):
        message = {"role": "assistant", "content": ANSWER}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": choices,
        }
    content = [{"type": "output_text", "text": ANSWER, "annotations": []}]
    item = {"id": "i", "type": "message", "role": "assistant", "status": "completed"}
    return {
        **dict.fromkeys(("id", "model"), "r"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "output": [{**item, "content": content}],
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    }


def parts(path: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of an answer in a stream."""
    for place, piece in enumerate([ANSWER[:8], ANSWER[8:]]):
        if path.endswith("/chat/completions"):
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            fixed = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            yield {**fixed, "choices": [choice]}
        else:
            place_in = {"item_id": "i", "output_index": 0, "content_index": 0, "logprobs": []}
            kind = "response.output_text.delta"
            yield {"type": kind, "delta": piece, "sequence_number": place, **place_in}


class Server:
    """A made OpenAI service; `requests` are the bodies that it was sent."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                if asked.get("stream"):
                    lines = [f"data: {json.dumps(part)}\n\n" for part in parts(self.path)]
                    body, kind = "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream"
                else:
                    body, kind = json.dumps(whole(self.path)), "application/json"
                self.send_response(500 if asked["model"] == "broken" else 200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        zone = r.zone("ada")
        zone.ingest([said("m1", "I live in Turin."), said("m2", "I play the violin.", minute=1)])
        # Without an encoder a word says more where there are more of others.
        others = [said(f"b{n}", f"I collect things of kind {n}.", by="Bob") for n in range(16)]
        zone.ingest(others)
        yield zone


@pytest.fixture
def client(server: Server, zone: Zone) -> openai.OpenAI:
    plain = openai.OpenAI(api_key="none", base_url=server.url, max_retries=0)
    return with_memory(plain, zone, user_id="u-Ada", user_name="Ada", session_id="s1")


def kept(zone: Zone) -> list[tuple[str, str]]:
    """Return who said what through the client, in order."""
    found = zone.list_memories("events", platform="openai").memories
    return [(str(memory.sender_id), memory.text) for memory in reversed(found)]


def test_what_is_relevant_stands_in_the_system_message_as_data(
    client: openai.OpenAI, server: Server
) -> None:
    given = json.loads(json.dumps(ASKED))
    found = client.chat.completions.create(model="m", messages=given)
    assert found.choices[0].message.content == ANSWER
    assert given == ASKED, "the caller's own messages stay as they are"
    system, user = server.requests[0]["messages"]
    assert system["content"].startswith("Be brief.\n\n<memory_context>")
    assert "I live in Turin." in system["content"]
    assert user == ASKED[1]


def test_without_a_system_message_there_is_one_and_parts_stay_parts(
    client: openai.OpenAI, server: Server
) -> None:
    client.chat.completions.create(model="m", messages=ASKED[1:])
    parted: list[Any] = [{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}]
    client.chat.completions.create(model="m", messages=(part for part in parted + ASKED[1:]))
    first, second = (request["messages"][0] for request in server.requests)
    assert (first["role"], "Turin" in first["content"]) == ("system", True)
    assert second["role"] == "developer"
    assert [part["type"] for part in second["content"]] == ["text", "text"]
    assert "Turin" in second["content"][1]["text"]


def test_where_nothing_is_relevant_nothing_is_added(client: openai.OpenAI, server: Server) -> None:
    asked: list[Any] = [{"role": "user", "content": "What is the capital of France?"}]
    client.chat.completions.create(model="m", messages=asked)
    client.responses.create(model="m", input="What is the capital of France?")
    assert server.requests[0]["messages"] == asked
    assert "instructions" not in server.requests[1]


def test_responses_get_it_as_instructions(client: openai.OpenAI, server: Server) -> None:
    found = client.responses.create(model="m", input="Where do I live?", instructions="Be brief.")
    assert found.output_text == ANSWER
    assert server.requests[0]["instructions"].startswith("Be brief.\n\n<memory_context>")
    client.responses.create(model="m", input=ASKED[1:])
    assert "I live in Turin." in server.requests[1]["instructions"]


def test_a_turn_is_kept_once_with_who_said_what(client: openai.OpenAI, zone: Zone) -> None:
    talk: list[Any] = [*ASKED[:1], {"role": "user", "content": "I bought a boat."}]
    client.chat.completions.create(model="m", messages=talk)
    talk += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "It is blue."}]
    client.chat.completions.create(model="m", messages=talk)
    assert kept(zone) == [
        *[("u-Ada", "I bought a boat."), ("assistant", ANSWER)],
        *[("u-Ada", "It is blue."), ("assistant", ANSWER)],
    ]
    texts = [fact.text for fact in zone.facts()]
    assert "Ada bought a boat." in texts
    assert not [text for text in texts if "since May" in text], "a model is not concluded from"


def test_the_answers_of_tools_are_not_the_users_words(client: openai.OpenAI, zone: Zone) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "map", "arguments": "{}"}}
    talk: list[Any] = [
        {"role": "user", "content": "I bought a boat."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "a map"},
    ]
    client.chat.completions.create(model="m", messages=talk)
    assert kept(zone) == [("assistant", ANSWER)], "the user's words were kept with the call before"


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_a_stream_is_kept_when_it_was_read(client: openai.OpenAI, zone: Zone, kind: str) -> None:
    if kind == "chat":
        stream: Any = client.chat.completions.create(model="m", messages=ASKED, stream=True)
    else:
        stream = client.responses.create(model="m", input="Where do I live?", stream=True)
    with stream as read:
        assert kept(zone) == []
        assert len(list(read)) == 2
    assert kept(zone) == [("u-Ada", "Where do I live?"), ("assistant", ANSWER)]
    assert stream.response.status_code == 200


def test_the_async_client_does_the_same(server: Server, zone: Zone) -> None:
    async def run() -> None:
        plain = openai.AsyncOpenAI(api_key="none", base_url=server.url, max_retries=0)
        client = with_memory(plain, zone, user_id="u-Ada")
        await client.chat.completions.create(model="m", messages=ASKED)
        stream = await client.responses.create(model="m", input="Where do I live?", stream=True)
        assert len([part async for part in stream]) == 2
        await plain.chat.completions.create(model="m", messages=ASKED)

    asyncio.run(run())
    assert "Turin" in server.requests[0]["messages"][0]["content"]
    assert "Turin" in server.requests[1]["instructions"]
    assert server.requests[2]["messages"] == ASKED, "the client that was given stays as it is"
    assert len(kept(zone)) == 4


def test_what_the_model_did_not_answer_is_not_kept(client: openai.OpenAI, zone: Zone) -> None:
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="broken", messages=ASKED)
    assert kept(zone) == []


def test_without_its_memory_the_model_answers_all_the_same(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Recollect(tmp_path / "gone", encoder="none") as r:
        zone = r.zone("ada")
    plain = openai.OpenAI(api_key="none", base_url=server.url, max_retries=0)
    found = with_memory(plain, zone).chat.completions.create(model="m", messages=ASKED)
    assert found.choices[0].message.content == ANSWER
    assert server.requests[0]["messages"] == ASKED
    assert "not stored" in caplog.text
    assert "Where do I live" not in caplog.text


def test_turns_are_decided_without_anybody_s_help(client: openai.OpenAI, zone: Zone) -> None:
    """Fault 10."""
    for home in ("Bergen", "Graz", "Porto"):
        talk: list[Any] = [{"role": "user", "content": f"I moved to {home}."}]
        client.chat.completions.create(model="m", messages=talk)
    assert zone.status().lag == 0
    assert [fact.text for fact in zone.facts() if "moved" in fact.text] == ["Ada moved to Porto."]
    assert any("Porto" in found.text for found in zone.recall("Where does Ada live?").results)


@pytest.mark.parametrize("kind", ["chat", "responses"])
@pytest.mark.parametrize(
    "copied",
    [
        lambda client: client.with_options(timeout=30),
        lambda client: client.copy(),
        lambda client: client.copy().with_options(timeout=9),
    ],
)
def test_copies_of_the_client_remember(
    client: openai.OpenAI, server: Server, zone: Zone, copied: Any, kind: str
) -> None:
    """Fault 10."""
    if kind == "chat":
        copied(client).chat.completions.create(model="m", messages=ASKED)
    else:
        copied(client).responses.create(model="m", input="Where do I live?")
    assert len(kept(zone)) == 2
    assert "I live in Turin." in json.dumps(server.requests[0])


def test_copies_of_the_async_client_remember(server: Server, zone: Zone) -> None:
    """Fault 10."""

    async def run() -> None:
        plain = openai.AsyncOpenAI(api_key="none", base_url=server.url, max_retries=0)
        client = with_memory(plain, zone).with_options(timeout=30)
        await client.chat.completions.create(model="m", messages=ASKED)
        async with client.chat.completions.stream(model="m", messages=ASKED) as stream:
            async for _ in stream:
                pass

    asyncio.run(run())
    assert len(kept(zone)) == 4


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.chat.completions.parse(model="m", messages=ASKED),
        lambda client: client.responses.parse(model="m", input="Where do I live?"),
        lambda client: client.chat.completions.with_raw_response.create(model="m", messages=ASKED),
        lambda client: client.responses.with_raw_response.create(
            model="m", input="Where do I live?"
        ),
        lambda client: read(client.chat.completions.stream(model="m", messages=ASKED)),
    ],
    ids=["chat.parse", "responses.parse", "chat raw", "responses raw", "chat.stream"],
)
def test_every_way_to_ask_remembers(
    client: openai.OpenAI, server: Server, zone: Zone, ask: Any
) -> None:
    """Fault 10."""
    assert ask(client)
    assert "I live in Turin." in json.dumps(server.requests[0])
    assert kept(zone) == [("u-Ada", "Where do I live?"), ("assistant", ANSWER)]


def read(manager: Any) -> list[Any]:
    with manager as stream:
        return list(stream)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<think>She means Turin.</think>In Turin.", "In Turin."),
        ("<thinking>\nHm.\n</thinking>\n\nIn Turin.", "In Turin."),
        ("She means Turin.\n</think>\n\nIn Turin.", "In Turin."),
        ("<think>She means Turin, or", ""),
        ("In Turin. <think>Or not.</think>Surely.", "In Turin. Surely."),
        ("Write `<think>` and `</think>`.", "Write `<think>` and `</think>`."),
        ("If a < b then think.", "If a < b then think."),
    ],
)
def test_thoughts_are_no_words(answer: str, expected: str) -> None:
    """Fault 10."""
    assert strip_reasoning(answer) == expected


def test_a_thought_of_an_answer_is_not_kept(
    client: openai.OpenAI, zone: Zone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 10."""
    thought = "<think>Ada owns a yacht.</think>In Turin."
    monkeypatch.setitem(globals(), "ANSWER", thought)
    client.chat.completions.create(model="m", messages=ASKED)
    stream = client.chat.completions.create(model="m", messages=ASKED, stream=True)
    assert len(list(stream)) == 2
    assert [text for who, text in kept(zone) if who == "assistant"] == ["In Turin."] * 2
