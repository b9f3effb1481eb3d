"""Long work: begun, watched, cancelled, begun again; and calls that are made twice."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Recollect
from recollect.home.access_tokens import AccessTokens
from recollect.library.library_zone import Zone
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Verification
from tests.library.kit import said
from tests.service.kit import Served, served


def ended(client: httpx.Client, place: str) -> dict[str, Any]:
    """Return an operation when it has ended."""
    while True:
        found: dict[str, Any] = client.get(place).json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.02)


def filled(client: httpx.Client, zone: str) -> None:
    """Give a zone a few events."""
    events = [said(f"m{number}", f"Thing {number}.", minute=number) for number in range(5)]
    client.post(f"/v1/zones/{zone}/events?wait=true", json={"events": events}).raise_for_status()


def test_long_work_is_accepted_and_found_under_its_location(service: Served) -> None:
    with service.client("work") as client:
        filled(client, "work")
        for call, body in (
            ("verify", {}),
            ("verify", None),
            ("rebuild", {"level": "project"}),
            ("rollback", None),
            ("reclaim", {"dry_run": True}),
        ):
            begun = client.post(f"/v1/zones/work/{call}", json=body)
            assert begun.status_code == 202, begun.text
            place = begun.headers["location"]
            assert place == f"/v1/zones/work/operations/{begun.json()['id']}"
            found = ended(client, place)
            assert found["state"] == "succeeded", found
            assert found["kind"] == call
            if call == "verify":
                assert found["result"]["ok"] is True
                assert found["result"]["events"] == 5
                assert found["done"] > 0
        head = client.get("/v1/zones/work/status").json()["head"]
        listed = client.get("/v1/zones/work/operations").json()["operations"]
        assert [item["kind"] for item in listed] == [
            *("reclaim", "rollback", "rebuild", "verify", "verify")
        ]
        expected = client.post("/v1/zones/work/verify", json={"expect": head})
        assert ended(client, expected.headers["location"])["result"]["ledger_ok"] is True
        with service.client("work2") as other:
            filled(other, "work2")
            assert other.get(place.replace("work", "work2", 1)).status_code == 404


def test_its_progress_is_sent_until_it_has_ended(service: Served) -> None:
    with service.client("sent") as client:
        filled(client, "sent")
        place = client.post("/v1/zones/sent/verify").headers["location"]
        with client.stream("GET", f"{place}/progress") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line for line in stream.iter_lines() if line.startswith("data: ")]
        states = [json.loads(line.removeprefix("data: "))["state"] for line in lines]
        assert states[-1] == "succeeded"
        paths = client.get("/openapi.json").json()["paths"]
    documented = paths["/v1/zones/{zone}/operations/{id}/progress"]["get"]["responses"]["200"]
    assert set(documented["content"]) == {"text/event-stream"}


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_who_may_not_any_more_watches_no_further(
    service: Served,
    monkeypatch: pytest.MonkeyPatch,
    token_clock: Callable[[int], int],
    how: str,
) -> None:
    go_on = threading.Event()

    def slow(self: Zone, **_: Any) -> Verification:
        go_on.wait(60)
        raise InvalidInput("it was stopped")

    monkeypatch.setattr(Zone, "verify", slow)
    tokens = AccessTokens(service.home)
    soon = token_clock(0) + 1_000
    made = tokens.create(("over",), ("admin",), expires_at=soon if how == "expired" else None)
    with service.client("over") as client:
        filled(client, "over")
        place = client.post("/v1/zones/over/verify").headers["location"]
        with (
            service.bare(Authorization=f"Bearer {made.token}") as watching,
            watching.stream("GET", f"{place}/progress") as stream,
        ):
            lines = stream.iter_lines()
            assert "event: operation" in next(line for line in lines if line)
            if how == "revoked":
                tokens.revoke(made.id)
            else:
                token_clock(1_000)
            rest = [line for line in lines if line]
        go_on.set()
        ended(client, place)
    assert rest[-2:][0] == "event: problem"
    said = json.loads(rest[-1].removeprefix("data: "))
    assert (said["type"], said["status"]) == ("urn:recollect:problem:unauthorized", 401)


def test_it_can_be_cancelled_and_begun_again_and_recalls_go_on_meanwhile(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), threading.Event()
    real = Zone.verify

    def slow(self: Zone, **asked: Any) -> Verification:
        begun.set()
        go_on.wait(60)
        return self.call(real, **asked)

    monkeypatch.setattr(Zone, "verify", slow)
    with service.client("slow") as client:
        filled(client, "slow")
        first = client.post("/v1/zones/slow/verify").headers["location"]
        second = client.post("/v1/zones/slow/verify").headers["location"]
        assert begun.wait(60)
        assert client.get(first).json()["state"] == "running"
        assert client.get(second).json()["state"] == "queued"
        for _ in range(20):
            asked = client.post("/v1/zones/slow/memories/recall", json={"query": "Thing"})
            assert asked.is_success
        assert client.post(f"{first}/retry").status_code == 409
        for place in (first, second):
            assert client.post(f"{place}/cancel").status_code == 202
        go_on.set()
        assert {ended(client, place)["state"] for place in (first, second)} == {"cancelled"}
        assert client.post(f"{first}/cancel").status_code == 409
        again = client.post(f"{first}/retry")
        assert again.status_code == 202
        assert ended(client, first)["state"] == "succeeded"
        assert client.post(f"{first}/retry").status_code == 409


def test_what_was_at_work_when_the_service_ended_is_found_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    begun, go_on = threading.Event(), threading.Event()

    def endless(self: Zone, **asked: Any) -> None:
        begun.set()
        while not go_on.wait(0.01):
            asked["progress"](1)

    with monkeypatch.context() as patched, served(home) as service:
        patched.setattr(Zone, "verify", endless)
        with service.client("a") as client:
            filled(client, "a")
            client.post("/v1/zones/a/verify", headers={"Idempotency-Key": "k"})
            assert begun.wait(60)
    with served(home) as service, service.client("a") as client:
        (found,) = client.get("/v1/zones/a/operations").json()["operations"]
        assert found["state"] == "interrupted"
        place = f"/v1/zones/a/operations/{found['id']}"
        assert client.post(f"{place}/retry").status_code == 202
        assert ended(client, place)["state"] == "succeeded"


def test_a_call_under_a_key_is_made_once(service: Served) -> None:
    with service.client("keys") as client:
        filled(client, "keys")
        key = {"Idempotency-Key": "one"}
        body = {"name": "Homes", "description": "All over the place."}
        made = [
            client.post("/v1/zones/keys/mental-models", json=body, headers=key) for _ in range(3)
        ]
        assert [answer.status_code for answer in made] == [201, 201, 201]
        assert len({answer.json()["id"] for answer in made}) == 1
        assert len(client.get("/v1/zones/keys/mental-models").json()["mental_models"]) == 1
        other = client.post(
            "/v1/zones/keys/mental-models", json={**body, "name": "Other"}, headers=key
        )
        assert other.status_code == 409
        assert other.json()["type"] == "urn:recollect:problem:conflict"
        places = {
            client.post("/v1/zones/keys/verify", headers=key).headers["location"] for _ in range(2)
        }
        assert len(places) == 1
        different = client.post("/v1/zones/keys/verify", json={"expect": "1:00"}, headers=key)
        assert different.status_code == 409
        long = client.post(
            "/v1/zones/keys/mental-models", json=body, headers={"Idempotency-Key": "x" * 300}
        )
        assert long.status_code == 422


def test_what_was_erased_is_in_no_answer_that_was_kept_for_a_key(service: Served) -> None:
    with service.client("erased") as client:
        filled(client, "erased")
        key = {"Idempotency-Key": "one"}
        body = {"name": "Safe", "description": "The key is under qxmat."}
        made = client.post("/v1/zones/erased/mental-models", json=body, headers=key).json()

        def kept() -> str:
            calls = service.app.service.calls._calls.values()
            return str([call.answer.result() for call in calls if call.answer.done()])

        assert "qxmat" in kept()
        client.delete(f"/v1/zones/erased/mental-models/{made['id']}").raise_for_status()
        assert "qxmat" not in kept()


def test_what_another_process_erased_is_not_answered_again_for_a_key(service: Served) -> None:
    with service.client("elsewhere") as client, Recollect(service.home) as other:
        filled(client, "elsewhere")
        place, key = "/v1/zones/elsewhere/mental-models", {"Idempotency-Key": "one"}
        body = {"name": "Safe", "description": "The key is under qxmat."}
        made = client.post(place, json=body, headers=key).json()
        changed = f"{place}/{made['id']}"
        told = {"description": "It is gone."}
        assert client.patch(changed, json=told, headers=key).is_success
        other.zone("elsewhere").forget(made["id"])
        assert client.patch(changed, json=told, headers=key).status_code == 404
        again = client.post(place, json=body, headers=key).json()
        assert again["id"] != made["id"]


def test_pages_do_not_shift_while_more_comes_in(service: Served) -> None:
    with service.client("pages") as client:
        names = [f"Nym{chr(97 + number)}" for number in range(6)]
        for number, name in enumerate(names):
            client.post(
                "/v1/zones/pages/events?wait=true",
                json=said(f"p{number}", f"I am {name}, a nurse from Oslo.", by=name, minute=number),
            )
        whole = client.get("/v1/zones/pages/entities?limit=1000").json()["entities"]
        page = client.get("/v1/zones/pages/entities?limit=2").json()
        got = page["entities"]
        while page.get("cursor"):
            late = said(f"late{len(got)}", f"I met {names[-1]}.", by="Zed", minute=30 + len(got))
            client.post("/v1/zones/pages/events?wait=true", json=late).raise_for_status()
            asked = {"limit": 2, "cursor": page["cursor"]}
            answer = client.get("/v1/zones/pages/entities", params=asked)
            assert answer.is_success, service.log.getvalue()[-1_200:]
            page = answer.json()
            got += page["entities"]
        assert [entity["id"] for entity in got] == [entity["id"] for entity in whole]
        assert client.get("/v1/zones/pages/entities?cursor=999999:2").status_code == 422
        for listed in ("facts", "memories"):
            seen: list[str] = []
            cursor: dict[str, str] = {}
            while True:
                answer = client.get(f"/v1/zones/pages/{listed}", params={"limit": 3, **cursor})
                assert answer.is_success, answer.text
                page = answer.json()
                seen += [item["id"] for item in page[listed]]
                if not page.get("cursor"):
                    break
                cursor = {"cursor": page["cursor"]}
            assert len(seen) == len(set(seen)) >= 6


@pytest.mark.parametrize(
    ("body", "key"), [({"expect": "1" * 2_000}, "k"), ({}, "k" * 300), ({}, "")]
)
def test_what_is_too_long_to_be_kept_begins_nothing(
    service: Served, body: dict[str, str], key: str
) -> None:
    with service.client("long") as client:
        client.post("/v1/zones/long/memories", json={"content": "I live in Turin."})
        answer = client.post("/v1/zones/long/verify", json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 422, answer.text
        assert client.get("/v1/zones/long/operations").json() == {"operations": []}
