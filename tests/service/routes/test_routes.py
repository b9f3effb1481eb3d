"""Every route: with every kind of token, with the examples of its description, and in the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.library.kit import said
from tests.service.kit import EVERYTHING, Served, served

DOCS = Path(__file__).resolve().parents[3] / "docs"
ROUTES = (DOCS / "reference" / "http.md").read_text()
CLIENTS = (DOCS / "clients.md").read_text()
#: The page that is made from the table of operations.
OPERATIONS = (DOCS / "reference" / "operations.md").read_text()
OPEN = {"/health/live", "/health/ready", "/version"}
#: Words, names and ids that stand in zone b alone.
CANARY = ("qxcanaryword", "Qxcanaryname", "qxcanary-id", "qxcanaryplatform", "zoneqxb")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with a zone a, and a zone of somebody else that has the canary."""
    with served(tmp_path_factory.mktemp("routes") / "home", wait_seconds=5) as found:
        with found.client("zoneqxb") as other:
            secret = said(
                "qxcanary-id",
                "I hid qxcanaryword in Turin.",
                by="Qxcanaryname",
                platform="qxcanaryplatform",
            )
            other.post("/v1/zones/zoneqxb/events?wait=true", json=secret).raise_for_status()
            other.post(
                "/v1/zones/zoneqxb/mental-models",
                json={"name": "Qxcanaryname", "description": "qxcanaryword"},
            ).raise_for_status()
        with found.client("a") as own:
            own.post("/v1/zones/a/events?wait=true", json=said("own", "I live in Turin.", by="Bob"))
        yield found


#: What needs two entities, a language model, or a memory.
_NEED_MORE = (
    *("/merges", "/infer", "/infer/stream", "/observations/write"),
    *("/memory/approve", "/memory/deactivate", "/paths/read"),
)


def operations(service: Served) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (method, address, description) of every operation."""
    with service.bare() as client:
        paths = client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), address, operation)
        for address, methods in paths.items()
        for method, operation in methods.items()
    ]


def operation_rights() -> dict[str, str]:
    """Return route -> right, as the page of operations has them."""
    rows = re.findall(r"\| `([A-Z]+) (/\S*)` \| `(\w+)` \|", OPERATIONS)
    return {f"{method} /v1/zones/{{zone}}{path}": right for method, path, right in rows}


def call(
    client: httpx.Client, zone: str, method: str, address: str, operation: dict[str, Any]
) -> httpx.Response:
    """Make a call as the description shows it, with ids that nothing has.

    Of a stream, which may have no end, the first event is read.
    """
    place = address.replace("{zone}", zone).replace("{number}", "999999")
    place = re.sub(r"\{\w+\}", "no-such-id", place)
    body = None
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for example in content.get("examples", {}).values():
            body = example["value"]
        break
    required = {
        each["name"]: "/no-such-path"
        for each in operation.get("parameters", ())
        if each["in"] == "query" and each["required"]
    }
    with client.stream(method, place, json=body, params=required) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            read: list[bytes] = []
            for part in answer.iter_bytes():
                read.append(part)
                if b"data:" in part:
                    break
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=b"".join(read)
            )
        answer.read()
    return answer


def test_the_reference_names_every_route_and_no_other(service: Served) -> None:
    there = {(method, address) for method, address, _ in operations(service)}
    told = set(re.findall(r"^\| `([A-Z]+) (/[^`?]*)`", ROUTES, re.MULTILINE))
    told |= {tuple(route.split()) for route in operation_rights()}
    nexus = CLIENTS.partition("## Nexus' memory service")[2].partition("\n## ")[0]
    told |= set(re.findall(r"^\| `([A-Z]+) (/[^`?]*)`", nexus, re.MULTILINE))
    # What is mounted describes itself.
    assert told == there | {("POST", "/mcp")}


def test_every_operation_has_an_example_of_its_body_and_its_answer(service: Served) -> None:
    for method, address, operation in operations(service):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        answers = [
            answer for status, answer in operation["responses"].items() if status.startswith("2")
        ]
        for described in (*bodies, *answers):
            for media, content in described["content"].items():
                if media == "application/x-ndjson":
                    continue
                assert content.get("examples"), (method, address, media)


def test_every_route_asks_for_the_right_that_the_reference_names(service: Served) -> None:
    """With no token, a made-up one, one for another zone, and one with every other right."""
    rights = dict(re.findall(r"^\| `([A-Z]+ /[^`?]*)` \| (\w*) ?\|", ROUTES, re.MULTILINE))
    rights |= operation_rights()
    without = {
        right: service.client("a", tuple(other for other in EVERYTHING if other != right))
        for right in EVERYTHING
    }
    nobody, forged = service.bare(), service.bare(Authorization="Bearer rct_1_2")
    stranger = service.client("other")
    assert rights["GET /metrics"] == "admin"
    assert without["admin"].get("/metrics").status_code == 404
    for method, address, operation in operations(service):
        if address in OPEN:
            continue
        for client in (nobody, forged):
            assert call(client, "a", method, address, operation).status_code == 401, address
        if "{zone}" not in address:
            continue
        wrong = without[rights[f"{method} {address}"]]
        refused = call(wrong, "a", method, address, operation)
        nowhere = call(wrong, "nowhere", method, address, operation)
        foreign = call(stranger, "a", method, address, operation)
        for answer in (refused, nowhere, foreign):
            assert answer.status_code == 404, (method, address, answer.text)
            body = answer.json()
            body.pop("request_id")
            assert body == {
                "type": "urn:recollect:problem:not-found",
                "title": "Not found",
                "status": 404,
                "detail": "there is nothing at this address, or nothing that this token may access",
            }


def test_every_route_answers_who_has_all_rights(service: Served) -> None:
    """With ids that nothing has it may say so, and nothing fails."""
    with service.client("a") as client:
        for method, address, operation in operations(service):
            if address.endswith(("/forget",)):
                continue
            answer = call(client, "a", method, address, operation)
            assert answer.status_code < 500, (method, address, answer.text)
            if "{" not in address.replace("{zone}", "") and not address.endswith(_NEED_MORE):
                assert answer.is_success, (method, address, answer.text)


def test_nothing_of_another_zone_comes_out_anywhere(service: Served) -> None:
    """Whatever is asked of zone a, also with the other's own names: no answer, header or log line
    holds them but where the asker said them."""
    log_before = len(service.log.getvalue())
    with service.client("a") as client:
        for method, address, operation in operations(service):
            if "{zone}" not in address or address.endswith("/forget"):
                continue
            for zone in ("a", "zoneqxb", "zoneqx"):
                answer = call(client, zone, method, address, operation)
                seen = f"{answer.headers} {answer.text}".replace(f"/v1/zones/{zone}", "")
                assert not [word for word in CANARY if word in seen], (method, address, zone)
        asked: list[tuple[str, str, dict[str, Any] | None]] = [
            ("POST", "memories/recall", {"query": "Who hid a word in Turin?", "max_results": 100}),
            ("POST", "memories/recall", {"query": "Qxcanarynam", "entity": "Qxcanarynam"}),
            ("POST", "hints", {"query": "x", "entity": "Qxcanarynam", "platform": "qxcanaryplat"}),
            ("GET", "entities/Qxcanarynam", None),
            ("GET", "facts?entity=Qxcanarynam", None),
            ("GET", "memories/qxcanary-i/why", None),
            ("POST", "forget", {"ids": ["qxcanary-i"], "dry_run": True}),
            ("POST", "forget", {"entity": "Qxcanarynam", "dry_run": True}),
            ("POST", "reflect", {"query": "What was hidden in Turin?"}),
            ("GET", "memories?scope=events", None),
            ("GET", "mental-models", None),
        ]
        for method, place, body in asked:
            answer = client.request(method, f"/v1/zones/a/{place}", json=body)
            assert answer.status_code < 500
            seen = f"{answer.headers} {answer.text}"
            assert not [word for word in CANARY if word in seen], (place, answer.text)
        assert [zone["zone"] for zone in client.get("/v1/zones").json()["zones"]] == ["a"]
        metrics = client.get("/metrics")
        assert metrics.headers["content-type"].count("charset=") == 1
        shown = metrics.text
    assert not [word for word in (*CANARY, 'zone="') if word in shown]
    logged = service.log.getvalue()[log_before:]
    assert logged
    assert not [word for word in CANARY if word in logged]


def test_the_log_holds_nothing_that_was_said_or_asked(service: Served) -> None:
    before = len(service.log.getvalue())
    with service.client("a", user="loguser") as client:
        token = client.headers["authorization"].removeprefix("Bearer ")
        client.post(
            "/v1/zones/a/events", json=said("log-id", "logword in a sentence", by="Logname")
        )
        client.post("/v1/zones/a/memories/recall", json={"query": "logquestion"})
        client.get("/v1/zones/a/memories/log-id?cursor=logparameter")
        client.post("/v1/zones/a/memories/recall", content=b'{"query": "logbroken')
    logged = service.log.getvalue()[before:]
    assert logged.count('"event":"request"') == 4
    secret = token.split("_", 2)[2]
    words = ("logword", "Logname", "log-id", "logquestion", "logparameter", "logbroken", secret)
    assert not [word for word in words if word in logged]


@pytest.mark.parametrize(
    "path", ["/", "/health/live", "/openapi.json", "/v1/zones", "/v1/zones/a/memories", "/nowhere"]
)
def test_head_is_get_without_the_content(service: Served, path: str) -> None:
    with service.client("a") as client:
        shown, bare = client.get(path), client.head(path)
        assert bare.status_code == shown.status_code
        assert bare.content == b""
        for name in ("content-type", "content-length"):
            assert bare.headers[name] == shown.headers[name]


def test_head_of_a_stream_ends_and_of_a_post_says_what_is_allowed(service: Served) -> None:
    with service.client("a") as client:
        client.post("/v1/zones/a/events?wait=true", json=said("head", "I live in Turin."))
        assert client.head("/v1/zones/a/status/stream").is_success
        # The connection is kept, and answers the next request.
        assert client.get("/version").is_success
        refused = client.head("/v1/zones/a/memories/recall")
        assert refused.status_code == 405
        assert {*refused.headers["allow"].split(", ")} == {"OPTIONS", "POST"}
        allowed = client.options("/v1/zones").headers["allow"]
        assert {*allowed.split(", ")} == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("damaged", ["memory.db", "CURRENT"])
def test_no_answer_names_files_of_the_server(tmp_path: Path, damaged: str) -> None:
    home = tmp_path / "qxcanarypath"
    with served(home) as service, service.client() as client:
        client.post("/v1/zones/a/events?wait=true", json=said("own", "I live in Turin.", by="Bob"))
    for file in home.rglob(damaged):
        file.write_bytes(b"damaged" * 2_000)
    rights = ("read", "write", "forget")
    with served(home, wait_seconds=1) as service, service.client(rights=rights) as client:
        answers = [call(client, "a", *operation) for operation in operations(service)]
    assert sum(answer.status_code >= 500 for answer in answers) > 50
    assert [answer.text for answer in answers if "qxcanarypath" in answer.text] == []


def test_a_key_that_cannot_be_read_is_named_in_the_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "qxcanarypath"
    monkeypatch.setenv("RECOLLECT_MODEL_ACCOUNTS", f"https://127.0.0.1:9/v1 m file:{key}")
    with served(tmp_path / "home") as service, service.client() as client:
        client.post("/v1/zones/a/events", json=said("own", "I live in Turin.", by="Bob"))
        for address in ("/v1/zones/a/infer", "/v1/zones/a/infer/stream", "/api/v2/rlm/infer"):
            answer = client.post(address, json={"query": "Where?"})
            assert answer.status_code == 500, address
            assert "setting" in answer.json()["detail"]
            assert str(key) not in answer.text
        logged = service.log.getvalue()
    assert logged.count(str(key)) == 3
