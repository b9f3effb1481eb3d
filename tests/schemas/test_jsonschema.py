"""The committed JSON Schemas are those of the types, and say what the records are."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.changes import ROW_OF_TABLE
from recollect.schemas.json.json_schemas import DIRECTORY, SCHEMAS, text_of

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden"
TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool,
         "object": dict, "array": list, "null": type(None)}  # fmt: skip
KNOWN = {"$schema", "$defs", "$ref", "anyOf", "title", "description", "default", "type", "enum",
         "properties", "required", "additionalProperties", "items", "prefixItems", "minItems",
         "contentEncoding"}  # fmt: skip


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Return where `value` departs from `schema`: as much of JSON Schema as ours use."""
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    found: list[str] = []
    if "$ref" in schema:
        found += faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    if "anyOf" in schema and all(faults(value, one, root, at) for one in schema["anyOf"]):
        found.append(f"{at}: none of the alternatives")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is not one of {schema['enum']}")
    if "type" in schema:
        right = isinstance(value, TYPES[schema["type"]])  # type: ignore[arg-type]
        if not right or (isinstance(value, bool) and schema["type"] != "boolean"):
            return [*found, f"{at}: {value!r} is no {schema['type']}"]
    if isinstance(value, dict):
        found += [f"{at}.{name} is missing" for name in schema.get("required", ())
                  if name not in value]  # fmt: skip
        for name, one in schema.get("properties", {}).items():
            if name in value:
                found += faults(value[name], one, root, f"{at}.{name}")
        others = schema.get("additionalProperties", True)
        for name in value.keys() - schema.get("properties", {}).keys():
            if isinstance(others, dict):
                found += faults(value[name], others, root, f"{at}.{name}")
    if isinstance(value, list):
        columns = schema.get("prefixItems", [])
        if len(value) < schema.get("minItems", 0):
            found.append(f"{at}: {len(value)} items are too few")
        for index, item in enumerate(value):
            one = columns[index] if index < len(columns) else schema.get("items", {})
            found += faults(item, one if isinstance(one, dict) else {}, root, f"{at}[{index}]")
    return found


def committed(file: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DIRECTORY / file).read_text("utf-8"))
    return read


@pytest.mark.parametrize("file", SCHEMAS)
def test_the_committed_file_is_current(file: str) -> None:
    text = (DIRECTORY / file).read_bytes().decode("utf-8")
    assert text == text_of(file), "run: python -m recollect.schemas.json.json_schemas"


@pytest.mark.parametrize("file", SCHEMAS)
def test_keys_are_sorted_and_the_last_line_ends(file: str) -> None:
    text = (DIRECTORY / file).read_text("utf-8")
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_no_other_file_lies_there() -> None:
    assert {path.name for path in DIRECTORY.glob("*.json")} == set(SCHEMAS)


@pytest.mark.parametrize("file", SCHEMAS)
def test_every_reference_leads_somewhere(file: str) -> None:
    schema = committed(file)
    named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)))
    assert named == set(schema["$defs"])


SAYS = [
    says
    for path in sorted(GOLDEN.glob("*.json"))
    for says in json.loads(path.read_text("utf-8")).values()
]


def test_golden_payloads_fit_the_schema_of_events() -> None:
    schema = committed("events.json")
    payloads = [says["payload"] for says in SAYS if "payload" in says]
    assert payloads
    assert [fault for one in payloads for fault in faults(one, schema, schema)] == []


def test_golden_rows_fit_the_schema_of_changes() -> None:
    schema = committed("changes.json")
    by_tag = {
        tag: found
        for found in schema["$defs"].values()
        if found["title"] != "Delete"
        for tag in found["prefixItems"][0]["enum"]
    }
    rows = [(table, row) for says in SAYS for part in says.get("parts", ())
            for table, found in part["puts"].items() for row in found]  # fmt: skip
    assert rows
    for table, row in rows:
        tag = ROW_OF_TABLE[table].__struct_config__.tag
        one = by_tag[tag]
        # Columns that a later version added are left out of older rows.
        assert [column["title"] for column in one["prefixItems"][1:]][: len(row)] == [*row]
        assert faults([tag, *row.values()], one, schema) == []
        assert faults([tag, *row.values()], schema, schema) == []


def test_the_events_of_the_demo_fit_the_schema_of_the_door() -> None:
    schema = committed("inbound.json")
    with open(ROOT / "demo" / "export.jsonl", encoding="utf-8") as lines:
        found = [fault for line in lines for fault in faults(json.loads(line), schema, schema)]
    assert found == []


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"platform": "p", "sender_id": "s", "occurred_at": 1},
        {"platform": "p", "sender_id": "s", "occurred_at": 1.5, "content": ""},
        {"platform": "p", "sender_id": "s", "occurred_at": True, "content": ""},
        {"platform": "p", "sender_id": None, "occurred_at": 1, "content": ""},
        {"platform": "p", "sender_id": "s", "occurred_at": 1, "content": "", "peer_kind": "room"},
        {"platform": "p", "sender_id": "s", "occurred_at": 1, "content": "", "attachments": [1]},
    ],
)
def test_what_the_door_refuses_does_not_fit(event: dict[str, Any]) -> None:
    schema = committed("inbound.json")
    assert faults(event, schema, schema)
