"""The reference page of the operations, generated from the table.

`python -m recollect.operations.table.reference` writes docs/reference/operations.md.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from recollect.operations.table.operation import LOCAL_PARAMETERS, Operation
from recollect.operations.table.zone_operations import all_operations

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "operations.md"

_HEAD = """# Operations

All operations on a zone: their methods, HTTP routes and MCP tools. This page is generated from the
table of operations by `python -m recollect.operations.table.reference`; a test checks that it is
up to date.

Every operation is a method of `Zone`, of a service's zone (`Recollect("http://…").zone(…)`) and,
as a coroutine, of `AsyncZone`; paths are relative to `/v1/zones/{zone}`. An operation without a
name under MCP tool has no tool. A paged list has a `cursor`: `paginate(zone.facts)` yields the
entries of all pages. `admin` operations that answer 202 run in the background;
`GET /operations/{id}` shows their state.

| method | HTTP | right | MCP tool | does |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the page in Markdown."""
    return _HEAD + "".join(_row(operation) for operation in all_operations())


def _row(operation: Operation[..., Any]) -> str:
    does = operation.description.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    tool = f"`{operation.tool_name}`" if operation.tool else ""
    call = f"{operation.name}({', '.join(_parameters(operation))})".replace("|", "\\|")
    route = f"{operation.method} {operation.path}"
    return f"| `{call}` | `{route}` | `{operation.right}` | {tool} | {does} |\n"


def _parameters(operation: Operation[..., Any]) -> list[str]:
    """Return the parameters as in a call, with their defaults."""
    signature = inspect.signature(operation.function)
    parameters = []
    for item in list(signature.parameters.values())[1:]:
        if item.name in LOCAL_PARAMETERS:
            continue
        stars = "*" if item.kind is item.VAR_POSITIONAL else ""
        name = ("**" if item.kind is item.VAR_KEYWORD else stars) + item.name
        parameters.append(name if item.default is item.empty else f"{name}={item.default!r}")
    return parameters


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
