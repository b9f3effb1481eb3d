"""MCP over real sockets: the SDK's client, a token's zone and rights, and no word of another."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from recollect import Recollect
from recollect.home import open_zone
from recollect.home.access_tokens import AccessTokens
from recollect.mcp_server.client_config import plan_edit
from tests.library.kit import said
from tests.mcp_server.kit import MODES, TOOL_SETS, Agent, agent, command
from tests.service.kit import Served, served

CANARY = "Xanthippe"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("mcp") / "home"
    with Recollect(home, encoder="none") as r:
        r.zone("ada").ingest([said("m1", "I live in Turin."), said("m2", "I sail.", minute=2)])
        r.zone(CANARY).ingest(said("m1", f"{CANARY} lives in Athens.", by=CANARY))
    with served(home) as running:
        yield running


@contextmanager
def connected(
    service: Served,
    zones: tuple[str, ...] = ("ada",),
    rights: tuple[str, ...] = ("read", "write", "forget"),
    *,
    path: str = "/mcp",
    mode: str = "auto",
    **holder: Any,
) -> Iterator[Agent]:
    """Connect an agent with a token of its own."""
    token = AccessTokens(service.home).create(zones, rights, **holder).token
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
    with agent(streamable_http_client(service.url + path, http_client=client), mode) as found:
        yield found


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_an_agent_whose_token_ends_is_answered_nothing_more(
    service: Served, token_clock: Callable[[int], int], how: str
) -> None:
    """It was connected before; each call asks again."""
    tokens = AccessTokens(service.home)
    soon = token_clock(0) + 1_000
    made = tokens.create(("ada",), ("read",), expires_at=soon if how == "expired" else None)
    with service.bare(Authorization=f"Bearer {made.token}", **ACCEPT) as client:
        assert "recall" in client.post("/mcp", json=LIST).text
        if how == "revoked":
            tokens.revoke(made.id)
        else:
            token_clock(1_000)
        answer = client.post("/mcp", json=LIST)
        assert answer.status_code == 401
        assert "recall" not in answer.text


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_remembers_and_recalls_in_its_tokens_zone(service: Served, mode: str) -> None:
    with connected(service, mode=mode, user="eve", agent="planner") as ada:
        assert set(ada.tools()) == {tool.name for tool in TOOL_SETS["recollect"]}
        made = ada.call("retain", content=f"Ada sings on Mondays ({mode}).")
        best = ada.call("recall", query="When does Ada sing?")["results"][0]
        assert "Mondays" in best["text"]
        assert "Ada (person)" in ada.read("memory://profile")
        (message,) = ada.do("get_prompt", "context", {"task": "When does Ada sing?"}).messages
        assert "Mondays" in message.content.text
        assert ada.call("forget", ids=[made["event_id"]], dry_run=False)["events"] == 1


def test_what_is_remembered_says_on_whose_behalf(service: Served) -> None:
    with connected(service, user="eve", agent="planner") as ada:
        made = ada.call("retain", content="Eve asked for tea.")
        updated = ada.call("update_memory", id=made["event_id"], text="Eve asked for coffee.")
    with Recollect(service.home) as r, r.zone("ada")._zone.files() as files:
        ((metadata,),) = files.events.connection.execute(
            "SELECT metadata FROM events WHERE id = ?", (updated["id"],)
        ).fetchall()
    assert isinstance(metadata, str)
    for words in ('"user":"eve"', '"agent":"planner"', '"zone":"ada"'):
        assert words in metadata


def test_a_tool_needs_its_right(service: Served) -> None:
    every = {tool.name: tool.needs for tool in TOOL_SETS["recollect"]}
    for rights in ((), ("read",), ("write",), ("forget",), ("admin",), ("read", "write")):
        may = {name for name, needs in every.items() if needs <= set(rights)}
        if not rights:
            continue
        with connected(service, rights=rights) as ada:
            assert set(ada.tools()) == may
            for name in set(every) - may:
                assert "there is no tool" in ada.refused(name, id="m1", content="x", query="x")
            if "read" not in rights:
                with pytest.raises(MCPError, match="lacks the right 'read'"):
                    ada.read("memory://profile")
                with pytest.raises(MCPError, match="lacks the right 'read'"):
                    ada.do("get_prompt", "context", {"task": "x"})
    with httpx.Client() as client:
        assert client.post(f"{service.url}/mcp", json=LIST).status_code == 401


def test_what_is_erased_over_mcp_is_in_no_answer_that_http_kept(service: Served) -> None:
    with service.client("ada") as client, connected(service) as ada:
        body = {"name": "Safe", "description": "The key is under qxmat."}
        key = {"Idempotency-Key": "one"}
        made = client.post("/v1/zones/ada/mental-models", json=body, headers=key).json()

        def kept() -> str:
            calls = service.app.service.calls._calls.values()
            return str([call.answer.result() for call in calls])

        assert "qxmat" in kept()
        ada.call("forget", ids=[made["id"]], dry_run=False)
        assert "qxmat" not in kept()


@pytest.mark.slow
def test_a_client_that_starts_processes_uses_a_service(
    service: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = AccessTokens(service.home).create(("ada",), ("read", "write")).token
    monkeypatch.setenv("RECOLLECT_TOKEN", token)
    monkeypatch.setenv("HOME", str(tmp_path))
    change = plan_edit("cursor", None, "ada", ["--url", service.url])
    assert change.entry["env"] == {"RECOLLECT_TOKEN": token}
    assert "--home" not in change.entry["args"]
    started = command(tmp_path)
    started.args = change.entry["args"]
    started.env = {**(started.env or {}), **change.entry["env"]}
    with agent(started) as ada:
        made = ada.call("retain", content="Ada paints in oil.")
        assert "oil" in str(ada.call("recall", query="What does Ada paint in?"))
        assert ada.call("list_entities")["entities"]
        assert "oil" in ada.read("memory://profile")
        ada.refused("forget", ids=[made["event_id"]], dry_run=False)
    with agent(command(tmp_path, "--zone", "ada", "mcp", "--url", service.url)) as nobody:
        assert "token" in nobody.refused("recall", query="What does Ada paint in?")


def test_a_zone_is_named_by_the_token_or_the_path(service: Served) -> None:
    with connected(service, ("ada", "new"), path="/mcp/ada") as ada:
        assert ada.call("recall", query="Where does Ada live?")["results"]
    with connected(service, ("*",), ("read", "write"), path="/mcp/fresh") as fresh:
        assert fresh.refused("why", id="m1").startswith("this memory is empty")
        assert fresh.call("retain", content="A first thing.")["status"] == "new"


def post(service: Served, path: str, zones: tuple[str, ...], *rights: str) -> httpx.Response:
    token = AccessTokens(service.home).create(zones, rights).token
    return httpx.post(
        service.url + path, json=LIST, headers={"Authorization": f"Bearer {token}", **ACCEPT}
    )


def test_a_zone_that_is_not_there_is_as_one_that_is_not_his(service: Served) -> None:
    answers = [
        post(service, "/mcp/nowhere", ("*",), "read"),
        post(service, "/mcp/ada", ("other",), "read", "write"),
        post(service, f"/mcp/{CANARY}", ("ada",), "read", "write"),
        post(service, "/mcp/no%20zone", ("ada",), "read", "write"),
        post(service, "/mcp/ada/more", ("ada",), "read", "write"),
    ]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    told = [{**answer.json(), "request_id": ""} for answer in answers]
    assert all(one == told[0] for one in told)
    assert post(service, "/mcp/no%20zone", ("*",), "read").status_code == 422
    several = post(service, "/mcp", ("ada", "other"), "read")
    assert "name one" in several.json()["detail"]


@pytest.mark.parametrize("name", TOOL_SETS)
def test_the_address_chooses_the_tools(service: Served, name: Any) -> None:
    with connected(service, path=f"/mcp/ada?tools={name}&read_only=true") as ada:
        reading = {tool.name for tool in TOOL_SETS[name] if tool.reads_only}
        assert set(ada.tools()) == reading
    assert post(service, f"/mcp?tools={name}s", ("ada",), "read").status_code == 400


def test_what_is_no_post_is_told_so(service: Served) -> None:
    token = AccessTokens(service.home).create(("ada",), ("read",)).token
    for method in ("GET", "DELETE", "PUT"):
        answer = httpx.request(
            method, f"{service.url}/mcp", headers={"Authorization": f"Bearer {token}", **ACCEPT}
        )
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b"\xff", b"null"]
)
def test_a_body_that_is_none_breaks_nothing(service: Served, body: bytes) -> None:
    token = AccessTokens(service.home).create(("ada",), ("read",)).token
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **ACCEPT}
    answer = httpx.post(f"{service.url}/mcp", content=body, headers=headers)
    assert 400 <= answer.status_code < 500


def test_no_answer_or_log_line_names_another_zone(service: Served) -> None:
    """The same ids are in both zones, and a suggestion would be at hand."""
    told = []
    with connected(service, ("ada",)) as ada:
        told.append(ada.read("memory://profile"))
        for name, tool in ada.tools().items():
            if name in ("retain", "create_mental_model"):
                continue
            wanted = tool.input_schema.get("required", [])
            for value in ("m1", "Where does she live?", "Xanthipp"):
                answer = ada.answer(name, dict.fromkeys(wanted, value))
                told += [str(answer.content), str(answer.structured_content)]
    assert "Athens" not in "".join(told)
    assert CANARY not in "".join(told)
    assert "Athens" not in service.log.getvalue()
    assert CANARY not in service.log.getvalue()
    assert "Turin" not in service.log.getvalue()


def test_the_sdk_is_loaded_with_the_first_request(tmp_path: Path) -> None:
    from tests.packaging.test_start import loaded

    modules = loaded(
        "import json, sys\n"
        "import recollect.service.application\n"
        "open(sys.argv[1], 'w').write(json.dumps([0, sorted(sys.modules)]))",
        tmp_path,
    )
    assert "litestar" in modules
    assert not {"mcp", "mcp_types", "starlette"} & modules


@pytest.mark.parametrize("uri", ["memory://[", "memory://[x]/profile", "http://[::1/", ""])
def test_an_address_that_is_none_is_told_which_there_are(service: Served, uri: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    with service.client("ada") as client:
        answer = client.post("/mcp", json=asked, headers=ACCEPT)
    assert "memory://profile" in answer.json()["error"]["message"]


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, Any]]:
    """Yield a service whose requests have half a second, and what lets it decide again."""
    may_decide = threading.Event()
    decide = open_zone.OpenZone.decide

    def wait_and_decide(zone: Any, *given: Any) -> Any:
        may_decide.wait(30)
        return decide(zone, *given)

    with Recollect(tmp_path / "home", encoder="none") as r:
        r.zone("ada").ingest(said("m1", "I live in Turin."))
    monkeypatch.setattr(open_zone.OpenZone, "decide", wait_and_decide)
    with served(tmp_path / "home", request_seconds=0.5) as running:
        yield running, may_decide
        may_decide.set()


def test_a_retained_text_is_kept_though_deciding_it_takes_long(slow: Any) -> None:
    """FAULTS 17."""
    service, may_decide = slow
    with connected(service) as ada:
        made = ada.call("retain", content="My dog is called Rex.")
        assert (made["status"], made["decided"]) == ("new", False)
        refused = ada.refused("create_mental_model", name="Dogs", description="Rex.")
        assert "do not send it again" in refused
        with service.client("ada") as client:
            body = {"content": "My cat is called Tom."}
            key = {"Idempotency-Key": "k"}
            answers = [
                client.post("/v1/zones/ada/memories", json=body, headers=key) for _ in range(2)
            ]
            assert [answer.status_code for answer in answers] == [201, 201]
            first, second = (answer.json() for answer in answers)
            assert first == second
            assert not first["decided"]
            model = {"name": "Cats", "description": "Tom."}
            problem = client.post("/v1/zones/ada/mental-models", json=model)
            assert problem.status_code == 503
            assert problem.json()["type"].endswith("not-decided")
            assert "Retry-After" not in problem.headers
            may_decide.set()
            for token in (made["token"], first["token"]):
                assert client.post("/v1/zones/ada/wait", json={"token": token}).is_success
            facts = client.get("/v1/zones/ada/facts").text
            assert "Rex" in facts
            assert "Tom" in facts


def test_half_a_character_becomes_a_replacement_character(service: Served) -> None:
    """FAULTS 17: over HTTP, as JSON, as lines and in MCP, and from a program."""
    kept = "Ada waves \ufffd twice \U0001f600."
    written = r"Ada waves \ud83d twice \ud83d\ude00."
    event = (
        r'{"platform": "p", "sender_id": "ada", "occurred_at": "2026-05-08T13:56:00Z", '
        r'"id": "%s", "content": "' + written + '"}'
    )
    call = (
        r'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "retain", '
        r'"arguments": {"content": "' + written + '"}}}'
    )
    with service.client("halves") as client:
        json_body = {"Content-Type": "application/json"}
        place = "/v1/zones/halves"
        for path, body, headers in (
            (f"{place}/events", '{"events": [%s]}' % (event % "a"), json_body),
            (f"{place}/events", event % "b", json_body),
            (f"{place}/events", event % "c", {"Content-Type": "application/x-ndjson"}),
            (f"{place}/memories", r'{"content": "' + written + '"}', json_body),
            ("/mcp/halves", call, {**json_body, **ACCEPT}),
        ):
            answer = client.post(path, content=body, headers=headers)
            assert answer.is_success, answer.text
            assert 'isError":true' not in answer.text
        asked = client.post(
            f"{place}/memories/recall", content=r'{"query": "Who \ud83d waves?"}', headers=json_body
        )
        assert asked.json()["results"]
        listed = client.get(f"{place}/memories", params={"scope": "events"}).json()["memories"]
    assert [memory["text"] for memory in listed] == [kept] * 5


def test_a_long_body_comes_in_pieces(service: Served) -> None:
    content = "Ada waves \ud83d. " + "x" * 220_000
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "retain", "arguments": {"content": content}},
        }
    ).encode()

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 10_007):
            yield body[start : start + 10_007]

    headers = {"Content-Type": "application/json", **ACCEPT}
    with service.client("pieces") as client:
        answer = client.post("/mcp/pieces", content=pieces(), headers=headers)
        assert answer.json()["result"]["structuredContent"]["status"] == "new"
