"""One description of an operation reaches every surface: shown by one that is made up here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from recollect import AsyncRecollect, InvalidInput, Recollect, Zone
from recollect.home.open_zone import OpenZone
from recollect.mcp_server import Access
from recollect.mcp_server.recollect_tools import recollect_tools
from recollect.operations.table import reference
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.zone_operations import ZoneOperations, all_operations
from recollect.service.routes.openapi_document import document
from tests.library.kit import said
from tests.service.kit import Served, served


class Louder(msgspec.Struct, frozen=True):
    """A word in capitals, and the zone that was asked."""

    zone: str
    text: str


@operation(
    "POST /words/{word}/louder",
    right="read",
    title="Say it louder",
    tag="toys",
    tool=Tool(title="Louder", description="Return a word in capitals."),
    example=({"times": 2}, {"zone": "a", "text": "HEY HEY"}),
)
def louder(
    zone: OpenZone,
    word: Annotated[str, Meta(description="The word.")],
    *,
    times: Annotated[int, Meta(description="How often.")] = 1,
) -> Louder:
    """Return a word in capitals, a number of times."""
    if times < 1:
        raise InvalidInput(f"times is {times}; give 1 or more")
    return Louder(zone.name, " ".join([word.upper()] * times))


HEY = Louder("a", "HEY HEY")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table, with one more operation."""
    monkeypatch.setattr(ZoneOperations, "louder", louder, raising=False)


@pytest.fixture
def service(toy: None, tmp_path: Path) -> Iterator[Served]:
    """A service with a zone that holds something."""
    with served(tmp_path / "served") as service:
        with service.client() as client:
            client.post("/v1/zones/a/events", json=said("m1", "I live in Turin."))
        yield service


def test_the_library_has_it(toy: None, tmp_path: Path) -> None:
    with Recollect(tmp_path, encoder="none") as r:
        zone: Any = r.zone("a")
        assert zone.louder("hey", times=2) == HEY
        with pytest.raises(InvalidInput, match="times is 0"):
            zone.louder("hey", times=0)


def test_the_async_library_awaits_it(toy: None, tmp_path: Path) -> None:
    async def asked() -> Louder:
        async with AsyncRecollect(tmp_path, encoder="none") as r:
            zone: Any = r.zone("a")
            found: Louder = await zone.louder("hey", times=2)
            return found

    assert asyncio.run(asked()) == HEY


def test_the_remote_library_sends_it(service: Served) -> None:
    with service.client() as client:
        token = client.headers["Authorization"].removeprefix("Bearer ")
    with Recollect(service.url, token=token) as r:
        zone: Any = r.zone("a")
        assert zone.louder("hey", times=2) == HEY
        with pytest.raises(InvalidInput, match="times is 0"):
            zone.louder("hey", times=0)


def test_http_routes_to_it(service: Served) -> None:
    path = "/v1/zones/a/words/hey/louder"
    with service.client() as client:
        assert client.post(path, json={"times": 2}).json() == {"zone": "a", "text": "HEY HEY"}
        assert client.post(path).json()["text"] == "HEY"
        refused = client.post(path, json={"volume": 2})
        assert refused.status_code == 422
        assert "volume" in refused.json()["detail"]
    with service.client(rights=("write",)) as client:
        assert client.post(path).status_code == 404


def test_openapi_describes_it(toy: None) -> None:
    described = document((), Louder)["paths"]["/v1/zones/{zone}/words/{word}/louder"]["post"]
    assert described["operationId"] == "louder"
    assert described["summary"] == "Say it louder"
    body = described["requestBody"]["content"]["application/json"]["schema"]
    schema = document((), Louder)["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    assert schema["properties"]["times"]["description"] == "How often."
    assert schema["additionalProperties"] is False
    (word,) = [item for item in described["parameters"] if item["name"] == "word"]
    assert (word["in"], word["description"]) == ("path", "The word.")


def test_agents_are_offered_it(toy: None, tmp_path: Path) -> None:
    (tool,) = [tool for tool in recollect_tools() if tool.name == "louder"]
    assert tool.described().input_schema["required"] == ["word"]
    with Recollect(tmp_path, encoder="none") as r:
        access = Access(r.zone("a"))
        assert tool(access, {"word": "hey", "times": "2"}) == {"zone": "a", "text": "HEY HEY"}


def test_the_reference_lists_it(toy: None) -> None:
    assert "| `louder(word, times=1)` | `POST /words/{word}/louder` | `read` |" in reference.page()


def test_the_page_of_operations_is_the_tables() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.page(), (
        "run: python -m recollect.operations.table.reference"
    )


def test_an_input_survives_the_way_through_a_request() -> None:
    """What a call gives is what the operation gets, for every operation that takes anything."""
    for found in all_operations():
        if found.example is None or found.example[0] is None:
            continue
        path = dict.fromkeys(found.path_parameters, "x")
        given = msgspec.convert({**found.example[0], **path}, found.input)
        args, kwargs = found.arguments(given)
        again = msgspec.convert(found.request_values(*args, **kwargs), found.input)
        assert msgspec.json.encode(again) == msgspec.json.encode(given), found.name


def test_every_example_is_what_its_types_say() -> None:
    for found in all_operations():
        assert found.example is not None, f"{found.name} has no example"
        asked, answered = found.example
        if asked is not None:
            msgspec.convert(asked, found.request_fields)
        if not found.long_running:
            msgspec.convert(answered, found.answer)


def test_a_zone_of_a_service_is_called_as_one_of_a_home() -> None:
    for found in all_operations():
        assert getattr(Zone, found.name) is found


#: The first words of the names of tools; `context` and `why` are names of commands.
_VERBS = {
    *("add", "archive", "complete", "consolidate", "context", "create", "find", "forget", "get"),
    *("give", "glob", "infer", "list", "log", "query", "read", "recall", "refresh", "reflect"),
    *("retain", "retract", "search", "set", "start", "store", "update", "why"),
}


def test_a_tool_has_the_name_of_its_operation_after_a_verb() -> None:
    for found in all_operations():
        if found.tool is None:
            continue
        assert found.tool_name.partition("_")[0] in _VERBS, found.tool_name
        # Agents know `retain` from other memory systems.
        assert found.tool_name.endswith(found.name) or found.tool_name == "retain"
