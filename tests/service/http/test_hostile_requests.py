"""Requests that nobody should send: too large, too slow, too many, no JSON, no text."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from http.client import HTTPResponse
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from recollect import Recollect
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import lines_of
from tests.foreign_agent import TOY, write_package
from tests.library.kit import said
from tests.service.kit import Served, served

RECALL = "/v1/zones/a/memories/recall"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that takes little and waits shortly."""
    home = tmp_path_factory.mktemp("hostile") / "home"
    with served(home, body_bytes=100_000, request_seconds=2) as found:
        with found.client("a") as client:
            client.post("/v1/zones/a/events?wait=true", json=said("m1", "I live in Turin."))
        yield found


def problem(answer: httpx.Response) -> str:
    """Return the end of a problem's type."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["request_id"] == answer.headers["x-request-id"]
    assert body["status"] == answer.status_code
    kind: str = body["type"].removeprefix("urn:recollect:problem:")
    return kind


def test_fault_18_null_means_not_given(service: Served) -> None:
    """Clients in many languages write every field, and null for those that they leave out."""
    optional = ("entity", "platform", "time_after", "time_before", "min_score", "known_at")
    with service.client("a") as client:
        plain = client.post(RECALL, json={"query": "Turin"})
        answer = client.post(RECALL, json={"query": "Turin", **dict.fromkeys(optional)})
    assert answer.status_code == 200, answer.text
    found = [each["id"] for each in answer.json()["results"]]
    assert found == [each["id"] for each in plain.json()["results"]]
    assert found


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b'{"query": "\xff"}', "malformed"),
        (b"null", "invalid"),
        (b"[]", "invalid"),
        (b'{"query": 1}', "invalid"),
        (b'{"query": "x", "unknown": 1}', "invalid"),
        (b'{"query": "x", "max_results": -1}', "invalid"),
        (b'{"query": "x", "max_results": 1e400}', "invalid"),
        (b'{"query": "x", "time_after": "yesterday"}', "invalid"),
        (b'{"query": "x", "known_at": "99:1:1"}', "invalid"),
        (b'{"query": "x", "budget": "all"}', "invalid"),
        (b"[" * 50_000, "invalid"),
        (b'{"query": ' + b"[" * 50_000, "invalid"),
    ],
)
def test_a_wrong_body_is_told_what_is_wrong(service: Served, body: bytes, kind: str) -> None:
    with service.client("a") as client:
        answer = client.post(RECALL, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert problem(answer) in (
        kind,
        "malformed" if body.startswith((b"[[", b'{"query": [')) else kind,
    )


@pytest.mark.parametrize(
    ("body", "said_of_it"),
    [
        (b"", "empty"),
        (b" \r\n", "empty"),
        (b'{"query": NaN}', "invalid character (byte 10)"),
        (b'{"query": "x",}', "trailing comma in object (byte 14)"),
        (b'{"query": "x"}\n{"query": "y"}', "trailing characters (byte 16)"),
        (b'{"query": "\xff"}', "UTF-8"),
        ('{"query": "x"}'.encode("utf-16"), "UTF-8"),
    ],
)
def test_what_is_no_json_is_told_why(service: Served, body: bytes, said_of_it: str) -> None:
    with service.client("a") as client:
        answer = client.post(RECALL, content=body, headers={"Content-Type": "application/json"})
    assert problem(answer) == "malformed"
    assert said_of_it in answer.json()["detail"]


def test_a_byte_order_mark_is_no_part_of_a_body(service: Served) -> None:
    """Editors and shells of Windows write one; the file is the same as without it."""
    mark = b"\xef\xbb\xbf"
    line = json.dumps(said("mark1", "The shed is green.")).encode()
    lines = mark + line + b"\n" + mark + json.dumps(said("mark2", "It is old.")).encode()
    with service.client("a") as client:
        for size in (1, len(lines)):
            parts = (lines[start : start + size] for start in range(0, len(lines), size))
            sent = client.post(
                "/v1/zones/a/events",
                content=parts,
                headers={"Content-Type": "application/x-ndjson"},
            ).json()
            assert (sent["read"], sent["rejected"]) == (2, 0), sent["rejections"]
        for body in (line, b'{"events": [' + line + b"]}"):
            sent = client.post(
                "/v1/zones/a/events",
                content=mark + body,
                headers={"Content-Type": "application/json"},
            ).json()
            assert sent["duplicate"] == 1
        asked = mark + b'{"query": "Turin"}'
        answer = client.post(RECALL, content=asked, headers={"Content-Type": "application/json"})
    assert answer.json()["query"] == "Turin"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (RECALL, "application/json"),
        ("/v1/zones/a/events", "application/x-ndjson"),
        ("/v3/memories/add/", "application/json"),
        ("/mcp/a", "application/json"),
    ],
)
def test_a_compressed_body_is_said_to_be_one(service: Served, path: str, kind: str) -> None:
    headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
    with service.client("a") as client:
        answer = client.post(path, content=gzip.compress(b'{"query": "Turin"}'), headers=headers)
        assert (answer.status_code, problem(answer)) == (415, "wrong-media-type")
        assert "gzip" in answer.json()["detail"]
        assert answer.headers["accept-encoding"] == "identity"
        plain = {"Content-Type": "application/json", "Content-Encoding": "identity"}
        assert client.post(RECALL, content=b'{"query": "x"}', headers=plain).is_success


@pytest.mark.parametrize("path", ["memories/recall?max_results=1", "events?wiat=true"])
def test_a_parameter_that_no_route_knows_is_refused_beside_a_body(
    service: Served, path: str
) -> None:
    """Unheeded, it would answer another question, or answer before the events are decided."""
    name = path.partition("?")[2].partition("=")[0]
    with service.client("a") as client:
        answer = client.post(f"/v1/zones/a/{path}", json={"query": "x"})
    assert (answer.status_code, problem(answer)) == (400, "malformed")
    assert answer.json()["errors"][0]["pointer"] == name


@pytest.mark.parametrize(
    ("query", "name"),
    [("facts?limit=1&limit=2", "limit"), ("memories?metadata=red", "metadata")],
)
def test_a_parameter_that_cannot_be_read_is_named(service: Served, query: str, name: str) -> None:
    with service.client("a") as client:
        answer = client.get(f"/v1/zones/a/{query}")
    assert (answer.status_code, problem(answer)) == (400, "malformed")
    (error,) = answer.json()["errors"]
    assert error["pointer"] == name
    assert "body" not in answer.json()["detail"]


def test_the_place_of_what_is_wrong_is_a_json_pointer(service: Served) -> None:
    with service.client("a") as client:
        answer = client.post(RECALL, json={"query": "x", "scope": ["facts", "dreams"]})
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "#/scope/1"
        # A decoder does not say which member of an object it was.
        too_large = client.post(
            RECALL,
            content=b'{"query": "x", "min_score": 1e400}',
            headers={"Content-Type": "application/json"},
        )
    assert too_large.json()["errors"] == [{"pointer": "#", "detail": "Number out of range"}]


def test_an_unknown_field_is_told_which_there_are(service: Served) -> None:
    with service.client("a") as client:
        details = [
            client.post("/v1/zones/a" + path, json=body).json()["detail"]
            for path, body in (
                ("/context", {"prompt": "x"}),
                ("/context", {"task": "x", "maxTokens": 5}),
                ("/rollback", {"hard": True}),
                ("/stored-memories", {"memories": [{"content": "x", "colour": "red"}]}),
            )
        ]
    assert details == [
        "Object contains unknown field `prompt`; its fields are task, max_tokens",
        "Object contains unknown field `maxTokens`; did you mean max_tokens?",
        "Object contains unknown field `hard`; it has no fields",
        "/memories/0: Object contains unknown field `colour`",
    ]


def test_a_body_of_another_type_and_one_that_is_too_large_are_refused(service: Served) -> None:
    with service.client("a") as client:
        answer = client.post(RECALL, content=b"a=b", headers={"Content-Type": "text/plain"})
        assert (answer.status_code, problem(answer)) == (415, "wrong-media-type")
        big = json.dumps({"query": "x" * 200_000}).encode()
        for path in (RECALL, "/v1/zones/a/events"):
            for content in (big, iter([big[:50_000], big[50_000:]])):
                answer = client.post(
                    path, content=content, headers={"Content-Type": "application/json"}
                )
                assert (answer.status_code, problem(answer)) == (413, "too-large"), path
        lines = b"\n".join(json.dumps(said(f"n{n}", "y" * 1_000)).encode() for n in range(200))
        sent = client.post(
            "/v1/zones/a/events", content=lines, headers={"Content-Type": "application/x-ndjson"}
        )
        assert sent.json()["new"] == 200, "lines may be as many as they like"


def test_what_is_not_there_and_what_cannot_be_done_there(service: Served) -> None:
    with service.client("a") as client:
        assert problem(client.get("/v1/zones/a/nothing")) == "not-found"
        assert problem(client.get("/nothing")) == "not-found"
        answer = client.delete(RECALL)
        assert (answer.status_code, problem(answer)) == (405, "wrong-method")
        assert "POST" in answer.headers["allow"]
        answer = client.get("/v1/zones/a/facts?limit=many")
        assert (answer.status_code, problem(answer)) == (400, "malformed")
        assert answer.json()["errors"][0]["pointer"] == "limit"
        assert problem(client.get("/v1/zones/a/facts?limit=0")) == "invalid"
        assert problem(client.get("/v1/zones/a/memories/%ff%fe/why")) == "not-found"


def test_a_client_that_stops_in_the_middle_is_not_waited_for(service: Served) -> None:
    """And holds up nobody else meanwhile."""
    host, port = service.url.removeprefix("http://").split(":")
    with service.client("a") as client:
        token = client.headers["authorization"]
        head = (
            f"POST {RECALL} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        slow = [socket.create_connection((host, int(port))) for _ in range(50)]
        try:
            for connection in slow:
                connection.sendall(head.encode())
            assert client.post(RECALL, json={"query": "Turin"}).is_success
            for connection in slow:
                connection.settimeout(60)
                answer = HTTPResponse(connection)
                answer.begin()
                assert answer.status == 503
                assert b"timed-out" in answer.read()
        finally:
            for connection in slow:
                connection.close()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (RECALL, "application/json"),
        ("/v1/zones/a/events", "application/json"),
        ("/v1/zones/a/events", "application/x-ndjson"),
        ("/mcp/a", "application/json"),
    ],
)
@pytest.mark.parametrize("start", [b"", b'{"query": '])
def test_a_client_that_leaves_in_the_middle_is_no_error_of_the_service(
    service: Served, path: str, kind: str, start: bytes
) -> None:
    """An operator who watches for 500 is not woken by it."""
    host, port = service.url.removeprefix("http://").split(":")
    request_id = f"left-{len(service.log.getvalue())}"
    with service.client("a") as client:
        token = client.headers["authorization"]
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n"
        f"X-Request-Id: {request_id}\r\nContent-Type: {kind}\r\nContent-Length: 100\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + start)
    logged: list[dict[str, object]] = []
    while not any(line["event"] == "request" for line in logged):
        time.sleep(0.05)
        lines = [json.loads(line) for line in service.log.getvalue().splitlines()]
        logged = [line for line in lines if line.get("request_id") == request_id]
    assert [(line["level"], line["status"]) for line in logged] == [("info", 400)]


def test_more_requests_than_are_allowed_wait_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.service import query_service

    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(query_service, "time", clock)
    with (
        served(tmp_path / "home", requests_per_second=5) as service,
        service.client("*") as client,
        service.client("*") as other,
    ):
        answers = [client.get("/v1/zones/nowhere/status") for _ in range(10)]
        assert [answer.status_code for answer in answers] == [404] * 5 + [429] * 5
        assert problem(answers[5]) == "too-many-requests"
        assert int(answers[5].headers["retry-after"]) == 1
        assert other.get("/v1/zones/nowhere/status").status_code == 404, "each has its own"
        clock.monotonic = lambda: 1.0
        assert client.get("/v1/zones/nowhere/status").status_code == 404


def test_a_flood_does_not_make_the_service_seem_down(tmp_path: Path) -> None:
    with (
        served(tmp_path / "home", requests_per_second=0.001) as service,
        service.bare() as anybody,
    ):
        assert [anybody.get("/v1/zones").status_code for _ in range(3)] == [401, 429, 429]
        for path in ("/health/live", "/health/ready", "/health"):
            assert anybody.get(path).status_code == 200


def test_more_calls_than_can_wait_are_refused_with_a_time_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from recollect.library.library_zone import Zone

    go_on = threading.Event()
    real = Zone.status
    with served(tmp_path / "home", waiting=1) as service, service.client("a") as client:
        client.post("/v1/zones/a/events?wait=true", json=said("m1", "I live in Turin."))
        monkeypatch.setattr(Zone, "status", lambda self: go_on.wait(60) and self.call(real))
        most = service.app.service.reading._max_calls
        found: list[httpx.Response] = []
        with service.client("a") as second:

            def ask() -> None:
                found.append(second.get("/v1/zones/a/status"))

            threads = [threading.Thread(target=ask) for _ in range(most)]
            for thread in threads:
                thread.start()
            while service.app.service.reading._calls < most:
                time.sleep(0.01)
            refused = client.get("/v1/zones/a/status")
            assert (refused.status_code, problem(refused)) == (503, "overloaded")
            assert int(refused.headers["retry-after"]) >= 1
            assert client.get("/health/live").is_success
            go_on.set()
            for thread in threads:
                thread.join()
        assert {answer.status_code for answer in found} == {200}


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "null", "//", "http://elsewhere"])
def test_an_origin_that_is_no_address_may_not_call(service: Served, origin: str) -> None:
    with service.client("a") as client:
        answer = client.get("/v1/zones", headers={"Origin": origin})
    assert (answer.status_code, problem(answer)) == (403, "forbidden-origin")


def test_blank_lines_are_not_gathered() -> None:
    """Each takes room while it waits, though it holds nothing."""

    class Body:
        async def stream(self) -> AsyncIterator[bytes]:
            for _ in range(64):
                yield b"\n" * 1_024

    async def counts() -> list[int]:
        return [len(lines) async for lines in lines_of(cast(AnyRequest, Body()), 2_048)]

    assert max(asyncio.run(counts())) <= 2_048


@pytest.mark.parametrize("size", [1, 7, 1_000, 5_000_000])
def test_lines_are_the_same_however_they_come(size: int) -> None:
    """Also where each byte comes by itself, which takes no longer than its share."""
    long = b"x" * (MAX_RECORD_BYTES + 500)
    body = b"\n".join([b"first", b"", b"y" * 20_000, long if size > 1 else b"z" * 200_000, b"end"])

    class Body:
        async def stream(self) -> AsyncIterator[bytes]:
            for start in range(0, len(body), size):
                yield body[start : start + size]

    async def found() -> list[bytes]:
        parts = [lines async for lines in lines_of(cast(AnyRequest, Body()), 2_048)]
        return [line for lines in parts for line in lines]

    assert asyncio.run(found()) == [line[: MAX_RECORD_BYTES + 1] for line in body.split(b"\n")]


def test_a_zone_that_other_agents_decided_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder="none") as opened:
        opened.zone("a").ingest(said("m1", "I live in Turin."))
    monkeypatch.syspath_prepend(write_package(tmp_path / "elsewhere"))
    settings = json.loads((home / "home.json").read_text())
    (home / "home.json").write_text(json.dumps(settings | {"agents": ["own", TOY]}))
    with served(home) as running, running.client("a") as client:
        answer = client.delete("/v1/zones/a/memories/m1")
        assert (answer.status_code, problem(answer)) == (503, "unavailable")
        assert "agents" in answer.json()["detail"]
        assert TOY not in answer.text
        assert client.get("/v1/zones/a/memories/m1").json()["text"] == "I live in Turin."


@pytest.mark.parametrize("path", ["memories/recall", "context", "merges", "memories"])
def test_a_key_that_is_too_long_is_refused_on_every_route(service: Served, path: str) -> None:
    """FAULTS 20."""
    with service.client("a") as client:
        answer = client.post(
            f"/v1/zones/a/{path}", json={"query": "x"}, headers={"Idempotency-Key": "k" * 256}
        )
    assert problem(answer) == "invalid"
    assert "255" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["a b", "..%2Fetc", "z" * 65])
def test_a_name_that_no_zone_can_have_is_said_to_be_one(service: Served, name: str) -> None:
    """A token for all zones learns nothing by it; one for a zone learns nothing of the others."""
    with service.client("*") as client, service.client("a") as other:
        for path, body in (("events", said("m1", "x")), ("memories/recall", {"query": "x"})):
            answer = client.post(f"/v1/zones/{name}/{path}", json=body)
            assert (answer.status_code, problem(answer)) == (422, "invalid")
            assert "zone" in answer.json()["detail"]
            assert problem(other.post(f"/v1/zones/{name}/{path}", json=body)) == "not-found"


def test_deleting_what_is_not_there_is_answered_as_getting_it(service: Served) -> None:
    """FAULTS 20."""
    with service.client("a") as client:
        place = "/v1/zones/a/memories/nobody"
        assert client.get(place).status_code == client.delete(place).status_code == 404
