"""JSON Schemas of events and rows, generated from the types.

`python -m recollect.schemas.json.json_schemas` writes them beside this module. The ledger stores
the same structures as MessagePack; a field that a schema declares as a base64 string is binary
there.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, get_args

import msgspec

from recollect.schemas.changes import AnyRow, Delete
from recollect.schemas.events import AnyPayload
from recollect.schemas.inbound import InboundEvent

DIRECTORY = Path(__file__).parent
DIALECT = "https://json-schema.org/draft/2020-12/schema"

# File -> (title, the alternative types of a document).
SCHEMAS: dict[str, tuple[str, tuple[type[msgspec.Struct], ...]]] = {
    "inbound.json": ("An event from outside", (InboundEvent,)),
    "events.json": ("The payload of an event", get_args(AnyPayload)),
    "changes.json": (
        "A row that is put, or the key of a row that is deleted",
        (*get_args(AnyRow), Delete),
    ),
}


def schema_of(file: str) -> dict[str, Any]:
    """Return the JSON Schema for `file`."""
    title, types = SCHEMAS[file]
    roots, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for component in components.values():
        # The indentation of a docstring depends on the version of Python.
        if "description" in component:
            component["description"] = inspect.cleandoc(component["description"])
    for cls in types:
        if cls.__struct_config__.array_like:
            _name_columns(components[cls.__name__], cls.__struct_fields__)
    return {"$schema": DIALECT, "title": title, "anyOf": list(roots), "$defs": components}


def _name_columns(component: dict[str, Any], names: tuple[str, ...]) -> None:
    """Add the field names as titles of an array's last columns; a row's first one is its tag."""
    columns = component["prefixItems"]
    component["prefixItems"] = [
        *columns[: -len(names)],
        *(
            {"title": name, **column}
            for name, column in zip(names, columns[-len(names) :], strict=True)
        ),
    ]


def text_of(file: str) -> str:
    """Return the content of `file`, with sorted keys to keep diffs small."""
    text = json.dumps(schema_of(file), indent=2, sort_keys=True, ensure_ascii=False)
    return text + "\n"


def write(directory: Path = DIRECTORY) -> None:
    """Write every schema file."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in SCHEMAS:
        (directory / file).write_text(text_of(file), encoding="utf-8")


if __name__ == "__main__":
    write()
