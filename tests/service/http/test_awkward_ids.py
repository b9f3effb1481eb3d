"""Ids with everything that divides an address, and ids that are far too long, on every route."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from recollect.home.access_tokens import AccessTokens
from tests.library.kit import said
from tests.mcp_server.kit import Agent, agent
from tests.service.kit import EVERYTHING, Served, served
from tests.service.routes.test_routes import operations

AWKWARD = ["a/b", "a%2Fb", "a?b=c#d", "a b", "ünï/日本", "/", "//x/", "why", "x/why", ".", ".."]
LONG = "q" * 20_000
MAX_QUOTED = 200


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ids") / "home", requests_per_second=0) as found:
        with found.client("a") as client:
            events = [said(id_, f"I keep box {n}.", minute=n) for n, id_ in enumerate(AWKWARD)]
            client.post("/v1/zones/a/events?wait=true", json={"events": events}).raise_for_status()
        yield found


@pytest.fixture(scope="module")
def ada(service: Served) -> Iterator[Agent]:
    token = AccessTokens(service.home).create(("a",), EVERYTHING).token
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
    with agent(streamable_http_client(f"{service.url}/mcp", http_client=client), "auto") as found:
        yield found


def part(id_: str) -> str:
    return id_.replace(".", "%2E") if set(id_) == {"."} else quote(id_, safe="")


@pytest.mark.parametrize("id_", AWKWARD)
def test_a_memory_is_found_by_an_awkward_id(service: Served, ada: Agent, id_: str) -> None:
    text = f"I keep box {AWKWARD.index(id_)}."
    place = f"/v1/zones/a/memories/{part(id_)}"
    with service.client("a") as client:
        assert client.get(place).json()["text"] == text
        assert client.get(f"{place}/why").json()["text"] == text
        assert client.get(f"{place}/history").json()["versions"][0]["text"] == text
        explained = client.post(f"{place}/explain", json={"query": "box"})
        assert explained.is_success, explained.text
        gone = client.request("DELETE", place, params={"dry_run": True})
        assert gone.json()["events"] == 1
    assert text in str(ada.call("get_memory", id=id_))
    for said_ in (quote(id_, safe=""), id_.replace("%", "%25")):
        assert text in ada.read(f"memory://memories/{said_}")


def test_every_route_that_takes_an_id_takes_one_with_slashes(service: Served) -> None:
    """What is not there is answered as where the id is a plain one."""
    tried = 0
    with service.client("*") as client:
        for method, address, operation in operations(service):
            if not ids_in(address):
                continue
            tried += 1
            plain = answered(client, method, address, operation, "no-such-id")
            slashed = answered(client, method, address, operation, "no/such/id")
            assert slashed[0] == plain[0], (method, address)
            assert slashed[1].replace("no/such/id", "no-such-id") == plain[1], (method, address)
    assert tried > 14


def test_nothing_echoes_much_of_what_was_sent(service: Served) -> None:
    with service.client("*") as client:
        for method, address, operation in operations(service):
            for place in one_at_a_time(address, LONG):
                status, text = answered(client, method, place, operation, "no-such-id", long=True)
                if status >= 400:
                    assert longest(text) <= MAX_QUOTED, (method, address, text[:400])
        for body in (
            '{"' + LONG + '": 1}',
            '{"query": {"' + LONG + '": 1}}',
            '{"scope": ["' + LONG,
        ):
            answer = client.post("/v1/zones/a/memories/recall", content=body)
            assert answer.status_code >= 400
            assert longest(answer.text) <= MAX_QUOTED
        for query in (f"limit={LONG}", f"scope={LONG}", f"cursor={LONG}", f"{LONG}=1"):
            answer = client.get(f"/v1/zones/a/memories?{query}")
            if answer.status_code >= 400:
                assert longest(answer.text) <= MAX_QUOTED, query[:20]


def test_no_tool_echoes_much_of_what_was_sent(ada: Agent) -> None:
    for name, tool in ada.tools().items():
        told = list((tool.input_schema or {}).get("properties", {}))
        given: list[dict[str, Any]] = [{key: LONG} for key in told]
        for arguments in (*given, dict.fromkeys(told, LONG), {LONG: 1}, {"id": LONG, LONG: LONG}):
            said_ = refused(ada, name, arguments)
            assert longest(said_) <= MAX_QUOTED, (name, said_[:600])
    for uri in (f"memory://memories/{LONG}", f"memory://entities/{LONG}", f"nothing://{LONG}"):
        with pytest.raises(MCPError) as failed:
            ada.read(uri)
        assert longest(str(failed.value)) <= MAX_QUOTED


def refused(ada: Agent, name: str, arguments: dict[str, Any]) -> str:
    """Return what is said of a call that is not done; nothing of one that is."""
    try:
        answer = ada.answer(name, arguments)
    except MCPError as error:
        return str(error)
    return str(answer) if answer.is_error else ""


def longest(text: str) -> int:
    """Return how much of what is long stands in one piece in an answer."""
    return max(map(len, re.findall("q+", text)), default=0)


def ids_in(address: str) -> set[str]:
    """Return the names of the parameters of an address that take an id."""
    return set(re.findall(r"\{(\w+)\}", address)) - {"zone", "number"}


def one_at_a_time(address: str, id_: str) -> list[str]:
    """Return an address with an id in one parameter each: several may be more than a client sends.

    An address without such parameters stays as it is.
    """
    filled = [address.replace(f"{{{name}}}", part(id_)) for name in sorted(ids_in(address))]
    return filled or [address]


def answered(
    client: httpx.Client,
    method: str,
    address: str,
    operation: dict[str, Any],
    id_: str,
    *,
    long: bool = False,
) -> tuple[int, str]:
    """Make a call with an id in its address, and long texts in its body; return status, error."""
    place = address.replace("{zone}", "a").replace("{number}", "999999")
    place = re.sub(r"\{\w+\}", part(id_), place)
    body = None
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for example in content.get("examples", {}).values():
            body = example["value"]
        break
    if long and isinstance(body, dict):
        body = {key: LONG if isinstance(value, str) else value for key, value in body.items()}
    with client.stream(method, place, json=body) as answer:
        # A stream may have no end.
        if answer.status_code < 400:
            return answer.status_code, ""
        answer.read()
    return answer.status_code, re.sub(r'"request_id":"\w+"', "", answer.text)


def test_a_merge_of_entities_that_there_are_not_is_refused(service: Served) -> None:
    with service.client("merging") as client:
        event = said("m1", "Ada met Bob in Turin.")
        client.post("/v1/zones/merging/events?wait=true", json={"events": [event]})
        entities = client.get("/v1/zones/merging/entities").json()["entities"]
        known = entities[0]["id"]
        for a, b, status, problem in (
            (known, "nobody", 404, "no entity with the id 'nobody'"),
            ("nobody", known, 404, "no entity with the id 'nobody'"),
            (entities[0]["name"], known, 404, "no entity with the id"),
            (known, known, 422, "are the same"),
        ):
            body = {"entity_a": a, "entity_b": b, "confidence": 0.95, "reason": "one person"}
            refused = client.post("/v1/zones/merging/merges", json=body)
            assert (refused.status_code, problem in refused.text) == (status, True), refused.text
        decided = client.patch("/v1/zones/merging/merges/nobody", json={"status": "merged"})
        assert (decided.status_code, "no merge 'nobody'" in decided.text) == (404, True)
        records = client.get("/v1/zones/merging/records").json()["records"]
        assert "propose_merge" not in {record["kind"] for record in records}
