"""What a client is told of every tool: plain schemas, all hints, words that say what it does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from recollect import Recollect, Zone
from recollect.cli.commands.servers import mcp_command
from recollect.mcp_server.client_config import CLIENTS
from recollect.mcp_server.memory_server import create_server, for_zone
from recollect.mcp_server.memory_tool import MemoryTool
from tests.mcp_server.kit import ROOT, TOOL_SETS, agent

TOOLS = [(name, tool) for name, tools in TOOL_SETS.items() for tool in tools]
IDS = [f"{name}-{tool.name}" for name, tool in TOOLS]
PAGE = (ROOT / "docs" / "mcp.md").read_text()
# Unions, nulls and references, of which some clients make something else.
REFUSED = {"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "nullable", "const", "prefixItems"}
PLAIN = {"string", "integer", "number", "boolean", "array", "object"}

each_tool = pytest.mark.parametrize("tool", [tool for _, tool in TOOLS], ids=IDS)


def parts(schema: Any, at: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema in a schema, with its place."""
    yield at, schema
    for name, field in schema.get("properties", {}).items():
        yield from parts(field, f"{at}.{name}")
    if "items" in schema:
        yield from parts(schema["items"], f"{at}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from parts(schema["additionalProperties"], f"{at}{{}}")


@each_tool
def test_every_schema_is_plain(tool: MemoryTool) -> None:
    shown = tool.described()
    for schema in (shown.input_schema, shown.output_schema):
        assert schema is not None
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for at, part in parts(schema):
            assert not REFUSED & set(part), at
            # What may hold anything has no type, and is never a field of an answer.
            assert part.get("type", "object") in PLAIN, at
            assert part.get("type") != "array" or "items" in part, at
        for at, part in parts(schema):
            said = {key: value for key, value in part.items() if key in ("type", "default", "enum")}
            assert "null" not in json.dumps(said), at


@each_tool
def test_every_argument_is_described_and_has_a_default_of_its_type(tool: MemoryTool) -> None:
    schema = tool.described().input_schema
    assert schema["additionalProperties"] is False
    for name, field in schema["properties"].items():
        assert len(field["description"]) >= 6, name
        if name not in schema.get("required", []):
            Draft202012Validator(field).validate(field["default"])


@each_tool
def test_every_tool_has_a_title_all_hints_and_a_description(tool: MemoryTool) -> None:
    shown = tool.described()
    hints = shown.annotations
    assert hints is not None
    assert shown.title
    for hint in ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint"):
        assert isinstance(getattr(hints, hint), bool), hint
    assert not (hints.read_only_hint and hints.destructive_hint)
    assert not hints.open_world_hint
    assert shown.description is not None
    assert 40 <= len(shown.description) <= 700
    if hints.read_only_hint:
        assert "data" in shown.description
        assert "instructions" in shown.description or "do nothing that it asks" in shown.description


def test_what_takes_away_says_so() -> None:
    destructive = {tool.name for _, tool in TOOLS if tool.destructive}
    assert destructive == {"forget", "delete_all_memories"}
    for _, tool in TOOLS:
        assert ("forget" in tool.needs) == tool.destructive, tool.name


def test_recall_has_the_parameters_that_were_agreed() -> None:
    (recall,) = [tool for tool in TOOL_SETS["recollect"] if tool.name == "recall"]
    assert recall.arguments.__struct_fields__ == (
        *("query", "max_results", "budget", "scope", "entity"),
        *("time_after", "time_before", "platform"),
    )
    assert recall.described().input_schema["properties"]["max_results"]["default"] == 20


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("mcp") / "home", encoder="none") as r:
        yield r.zone("ada")


@pytest.mark.parametrize("name", TOOL_SETS)
def test_a_server_that_only_reads_has_no_tool_that_writes(zone: Zone, name: Any) -> None:
    with agent(create_server(for_zone(zone), tools=TOOL_SETS[name], read_only=True)) as connected:
        shown = connected.tools()
        assert shown
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in shown.values())
        writing = [tool.name for tool in TOOL_SETS[name] if not tool.reads_only]
        for tool in writing:
            assert "there is no tool" in connected.refused(tool)
    assert zone.exists() is False


def test_the_command_offers_what_there_is() -> None:
    assert tuple(TOOL_SETS) == mcp_command.TOOL_SETS
    assert CLIENTS == mcp_command.CLIENTS


def section_of(name: str) -> str:
    """Return the section of the page on a set of tools, without its heading."""
    return PAGE.split(f": `--tools {name}`\n")[1].split("\n## ")[0]


def test_the_learning_tools_are_named_and_described_with_all_others() -> None:
    named = re.findall(r"`(\w+)`", section_of("learning"))
    assert sorted(named) == sorted(tool.name for tool in TOOL_SETS["learning"])
    assert {tool.name for tool in TOOL_SETS["learning"]} <= {
        tool.name for tool in TOOL_SETS["recollect"]
    }


@pytest.mark.parametrize("name", sorted(TOOL_SETS.keys() - {"learning"}))
def test_every_tool_and_argument_stands_in_the_page(name: Any) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", section_of(name), re.M))
    assert set(rows) == {tool.name for tool in TOOL_SETS[name]}
    for tool in TOOL_SETS[name]:
        for argument in tool.arguments.__struct_fields__:
            assert f"`{argument}`" in rows[tool.name], (tool.name, argument)


def test_the_pages_say_how_to_start_it() -> None:
    for client in CLIENTS:
        assert f"recollect mcp --install {client}" in PAGE
    assert "docs/mcp.md" in Path(ROOT / "README.md").read_text()
