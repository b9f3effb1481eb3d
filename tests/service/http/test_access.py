"""Who may do what: tokens, their rights and zones, and what a stranger can find out."""

from __future__ import annotations

import socket
import stat
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from recollect.home.access_tokens import AccessTokens
from recollect.schemas.errors import InvalidInput
from tests.library.kit import said
from tests.service.kit import EVERYTHING, Served, served

ASKED = {"query": "Turin"}


def outcome(answer: httpx.Response) -> tuple[int, dict[str, str], dict[str, object]]:
    """Return an answer without what differs between any two."""
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name not in ("date", "x-request-id")
    }
    body = answer.json()
    body.pop("request_id")
    return answer.status_code, headers, body


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer rct",
        "Bearer rct_0000000000000000_x",
        "Basic YTpi",
        "Bearer \xff\xfe",
    ],
)
def test_without_a_token_that_counts_nothing_is_answered(
    service: Served, header: str | None
) -> None:
    with service.bare() as client:
        headers = {} if header is None else {b"Authorization": header.encode("latin-1")}
        answer = client.get("/v1/zones/a/status", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["type"] == "urn:recollect:problem:unauthorized"


def test_a_zone_without_right_and_one_that_is_not_there_answer_alike(service: Served) -> None:
    with service.client("theirs") as other:
        assert other.post("/v1/zones/theirs/events", json=said("m1", "Secret.")).json()["new"]
    with service.client("mine") as client:
        for zone in ("theirs", "nowhere", "mine", "..", "x" * 80, "Ünder"):
            found = client.post(f"/v1/zones/{zone}/memories/recall", json=ASKED)
            # A client resolves "..", and asks Mem0's path of one memory, which takes no POST.
            assert outcome(found)[0] == (405 if zone == ".." else 404)
            if zone != "..":
                assert outcome(found) == outcome(client.get("/v1/zones/elsewhere/status"))
        for zone in ("theirs", "nowhere"):
            sent = client.post(f"/v1/zones/{zone}/events", json=said("m2", "Mine."))
            assert outcome(sent)[0] == 404
    with service.client("theirs", ("read",)) as other:
        assert other.get("/v1/zones/theirs/status").json()["events"] == 1


def test_a_right_allows_what_it_names_and_no_more(service: Served) -> None:
    calls = {
        "read": ("POST", "/v1/zones/rights/memories/recall", ASKED),
        "write": ("POST", "/v1/zones/rights/events", said("m1", "Twice.")),
        "forget": ("POST", "/v1/zones/rights/forget", {"ids": ["m1"], "dry_run": True}),
    }
    with service.client("rights") as client:
        client.post("/v1/zones/rights/events", json=said("m1", "Twice."))
    for held in EVERYTHING:
        with service.client("rights", (held,)) as client:
            for needed, (method, path, body) in calls.items():
                answer = client.request(method, path, json=body)
                assert answer.status_code == (200 if held == needed else 404), (held, needed)


def test_a_star_stands_for_every_zone_also_one_to_come(service: Served) -> None:
    with service.client("*") as client:
        assert client.post("/v1/zones/fresh/events", json=said("m1", "New.")).status_code == 200
        assert client.get("/v1/zones/fresh/status").json()["events"] == 1


def test_a_token_that_is_taken_back_opens_nothing_from_then_on(service: Served) -> None:
    tokens = AccessTokens(service.home)
    made = tokens.create(("*",), ("read",))
    with service.bare(Authorization=f"Bearer {made.token}") as client:
        assert client.get("/v1/zones/nowhere/status").status_code == 404
        tokens.revoke(made.id)
        assert client.get("/v1/zones/nowhere/status").status_code == 401
    with pytest.raises(InvalidInput, match="no token has the id"):
        tokens.revoke(made.id)


def test_a_token_ends_when_it_was_to(service: Served, token_clock: Callable[[int], int]) -> None:
    tokens = AccessTokens(service.home)
    made = tokens.create(("*",), ("read",), expires_at=token_clock(0) + 300)
    with service.bare(Authorization=f"Bearer {made.token}") as client:
        token_clock(299)
        assert client.get("/v1/zones/nowhere/status").status_code == 404
        token_clock(1)
        assert client.get("/v1/zones/nowhere/status").status_code == 401
        assert client.post("/mcp/a", json={}).status_code == 401
        assert client.get("/metrics").status_code == 401
    with pytest.raises(InvalidInput, match="is not in the future"):
        tokens.create(("*",), ("read",), expires_at=1)


def test_the_home_keeps_no_secret_and_its_owner_alone_may_read_what_it_keeps(
    service: Served,
) -> None:
    tokens = AccessTokens(service.home)
    made = tokens.create(("a",), ("read",))
    path = service.home / "tokens.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    id_, secret = made.token.removeprefix("rct_").split("_", 1)
    assert len(secret) >= 43, "256 bits"
    kept = path.read_text()
    assert id_ in kept
    assert secret not in kept
    assert secret not in str(tokens.tokens())


def test_pages_of_other_sites_and_made_up_hosts_are_refused(service: Served) -> None:
    with service.client("a") as client:
        for headers in (
            {"Host": "evil.example"},
            {"Host": "evil.example:80"},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
        ):
            answer = client.get("/v1/zones/a/status", headers=headers)
            assert answer.status_code == 403, headers
            assert answer.json()["type"] == "urn:recollect:problem:forbidden-origin"
        assert client.get("/health/live", headers={"Origin": service.url}).status_code == 200
        assert client.get("/health/live", headers={"Host": "localhost:1"}).status_code == 200


def test_an_http_1_0_check_without_a_host_is_answered(service: Served) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(b"GET /health/live HTTP/1.0\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4_096), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_page_of_a_listed_origin_may_call_and_read(tmp_path: Path) -> None:
    """As the Fetch standard has it: what a browser asks for before and after a call."""
    page = {"Origin": "https://UI.example.org"}
    asked = {
        **page,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    elsewhere = {**asked, "Origin": "https://evil.example"}
    with (
        served(tmp_path / "home", origins=("https://ui.example.org/", "/")) as service,
        service.client("a") as client,
    ):
        before = service.bare().options("/v1/zones/a/memories/recall", headers=asked)
        assert before.status_code == 204
        assert client.get("/v1/zones").status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://UI.example.org"
        assert "POST" in before.headers["access-control-allow-methods"].split(", ")
        assert before.headers["access-control-allow-headers"] == "authorization,content-type"
        read = client.get("/v1/zones", headers=page)
        missing = client.get("/v1/zones/nowhere/status", headers=page)
        unknown = service.bare().get("/v1/zones", headers=page)
        for answer, status in ((read, 200), (missing, 404), (unknown, 401)):
            assert answer.status_code == status
            assert answer.headers["access-control-allow-origin"] == "https://UI.example.org"
            assert "Origin" in answer.headers["vary"]
            assert "Location" in answer.headers["access-control-expose-headers"]
        for refused in (
            client.options("/v1/zones/a/memories/recall", headers=elsewhere),
            client.get("/v1/zones", headers=elsewhere),
        ):
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
        assert "access-control-allow-origin" not in client.get("/v1/zones").headers
