"""Limits in the OpenAPI document: a value at each is accepted, and one beyond it is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.library.kit import said
from tests.service.kit import Served, served

#: What refuses every value here: no account of a language model is configured.
NEED_A_MODEL = ("/infer", "/observations/write")
#: Where another rule refuses "x" too: paths begin with a slash, and "x" may name nothing.
HAVE_MORE_RULES = re.compile(
    r"begins with a slash|has no branch|at most 64|messages cannot|no event"
)

Case = tuple[str, dict[str, Any], bool]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("limits") / "home"
    with served(home, wait_seconds=5, requests_per_second=10_000) as found:
        with found.client("a") as client:
            event = said("own", "I live in Turin. I moved to Oslo.", by="Ada")
            client.post("/v1/zones/a/events?wait=true", json=event).raise_for_status()
        yield found


def resolved(schema: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Return the schema itself: of a reference its target, of alternatives the one with a value."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return resolved(described["components"]["schemas"][name], described)
    options = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    return resolved(options[0], described) if options else schema


def at_and_beyond(schema: dict[str, Any], described: dict[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Yield (value, whether it is allowed) at and beyond each limit of a value."""
    first = "/" if schema.get("pattern", "").startswith("^/") else "x"
    if (most := schema.get("maxLength")) is not None:
        yield first + "x" * (most - 1), True
        yield first + "x" * most, False
    if schema.get("minLength"):
        yield "", False
    for name, step in (("maximum", 1), ("minimum", -1)):
        if name in schema:
            yield schema[name], True
            yield schema[name] + step, False
    item = resolved(schema.get("items", {}), described)
    if item.get("type") == "string" and "maxItems" in schema:
        yield [f"/{number}" for number in range(schema["maxItems"] + 1)], False
    if schema.get("minItems"):
        yield [], False


def cases(operation: dict[str, Any], described: dict[str, Any]) -> Iterator[Case]:
    """Yield (name, what to send, whether it is allowed) for each limit of an operation."""
    body, schema = None, {}
    if content := operation.get("requestBody", {}).get("content", {}).get("application/json"):
        body = deepcopy(next(iter(content["examples"].values()))["value"])
        schema = resolved(content["schema"], described)
    required = {
        one["name"]: "/no"
        for one in operation.get("parameters", ())
        if one["in"] == "query" and one["required"]
    }
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "header" or parameter["name"] == "zone":
            continue
        for value, allowed in at_and_beyond(resolved(parameter["schema"], described), described):
            place = "params" if parameter["in"] == "query" else "path"
            if place == "path" and value == "":
                continue
            given = {"params": required, "json": body, "path": {}}
            given[place] = {**given[place], parameter["name"]: value}  # type: ignore[dict-item]
            yield parameter["name"], given, allowed
    for name, field in schema.get("properties", {}).items():
        for value, allowed in at_and_beyond(resolved(field, described), described):
            yield name, {"params": required, "json": {**(body or {}), name: value}}, allowed


def send(client: httpx.Client, method: str, address: str, given: dict[str, Any]) -> tuple[int, str]:
    """Return the status and the text of the answer; of a stream, only the status."""
    names = {"zone": "a", "entity": "Ada", "id": "own", "number": "999999", **given.pop("path", {})}
    place = re.sub(
        r"\{(\w+)\}", lambda name: quote(str(names.get(name[1], "none")), safe=""), address
    )
    with client.stream(method, place, **given) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            return answer.status_code, ""
        return answer.status_code, answer.read().decode()


def test_the_document_states_the_limits_that_hold(service: Served) -> None:
    wrong, count = [], 0
    with service.client("a") as client:
        described = client.get("/openapi.json").json()
        for address, methods in described["paths"].items():
            if "{zone}" not in address or any(part in address for part in NEED_A_MODEL):
                continue
            for method, operation in methods.items():
                for name, given, allowed in cases(operation, described):
                    status, text = send(client, method.upper(), address, given)
                    count += 1
                    # An unknown id is refused as such, however long it is.
                    if status == 404 or "no entity is called" in text:
                        continue
                    refused = status in (400, 422)
                    if status >= 500 or (refused == allowed and not HAVE_MORE_RULES.search(text)):
                        wrong.append((method, address, name, allowed, status, text[:200]))
    assert wrong == []
    assert count > 300


def test_a_text_has_a_limit_in_bytes_too(service: Served) -> None:
    with service.client("a") as client:
        for field, most in (("content", 262_144), ("sender_id", 1_024)):
            given = {"content": "x", field: "ü" * (most // 2)}
            assert client.post("/v1/zones/a/memories", json=given).status_code == 201
            given[field] += "ü"
            refused = client.post("/v1/zones/a/memories", json=given)
            assert refused.status_code == 422
            assert f"the maximum is {most}" in refused.json()["detail"]


def test_a_branch_is_a_zone_of_the_document(service: Served) -> None:
    with service.client("a") as client:
        client.post("/v1/zones/a/branches", json={"name": "trial"}).raise_for_status()
        client.get("/v1/zones/a@trial/status").raise_for_status()
        described = client.get("/openapi.json").json()
    parameters = described["paths"]["/v1/zones/{zone}/status"]["get"]["parameters"]
    (pattern,) = (one["schema"]["pattern"] for one in parameters if one["name"] == "zone")
    assert all(re.search(pattern, name) for name in ("a@trial", "a" * 64))
    assert not any(re.search(pattern, name) for name in ("a" * 65, "@trial", "a@", "a@b@c", "-a"))
