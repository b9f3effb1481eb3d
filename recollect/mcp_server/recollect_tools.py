"""The default tool set: a tool for each operation that agents are offered."""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.mcp_server.memory_tool import Access, MemoryTool
from recollect.operations.table.operation import Operation, Tool
from recollect.operations.table.zone_operations import all_operations


def recollect_tools(tag: str | None = None) -> tuple[MemoryTool, ...]:
    """Return a tool for each operation that agents are offered; `tag`: only those with this tag."""
    return tuple(
        _tool(operation, operation.tool)
        for operation in all_operations()
        if operation.tool is not None and tag in (None, operation.tag)
    )


def _tool(operation: Operation[..., Any], tool: Tool) -> MemoryTool:
    arguments_type = _arguments(operation, tool)

    def run(access: Access, arguments: Any) -> Any:
        fields = {field: getattr(arguments, field) for field in arguments.__struct_fields__}
        given = msgspec.convert(fields, operation.input)
        caller = {} if access.principal is None else {"principal": access.principal}
        args, kwargs = operation.arguments(given, **caller)
        result = access.zone.call(operation, *args, **kwargs)
        return result if tool.shape is None else tool.shape(access.zone, given, result)

    needs = {operation.right}
    if operation.erases:
        needs.add("forget")
    return MemoryTool(
        name=operation.tool_name,
        title=tool.title,
        description=tool.description,
        arguments=arguments_type,
        answer=operation.answer,
        run=run,
        needs=frozenset(needs),
        destructive=tool.destructive,
        idempotent=tool.idempotent,
        max_text_length=tool.max_text_length,
        quotes_memories=tool.quotes_memories,
    )


def _arguments(operation: Operation[..., Any], tool: Tool) -> type[msgspec.Struct]:
    """Return the operation's input without the parameters hidden from agents."""
    fields: list[Any] = []
    for field in msgspec.structs.fields(operation.input):
        if field.name in tool.hidden:
            continue
        if field.name in tool.defaults:
            fields.append((field.name, field.type, tool.defaults[field.name]))
        elif field.required:
            fields.append((field.name, field.type))
        elif field.default is not msgspec.NODEFAULT:
            fields.append((field.name, field.type, field.default))
        else:
            default = msgspec.field(default_factory=field.default_factory)
            fields.append((field.name, field.type, default))
    return msgspec.defstruct(
        f"{operation.tool_name.title().replace('_', '')}Arguments",
        fields,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
