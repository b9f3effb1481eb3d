"""HTTP handlers of the operations that `recollect.operations.table` declares.

They parse the input, check rights and respond with JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_origin

import msgspec
from litestar import MediaType, Response, route
from litestar.handlers import HTTPRouteHandler

from recollect.home.access_tokens import Right
from recollect.library.library_zone import Zone
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from recollect.schemas.decoder_errors import alternatives
from recollect.schemas.wire import RememberReceipt
from recollect.service.http.idempotent_calls import HEADER, check_key
from recollect.service.http.json_bodies import (
    check_json,
    decode,
    invalid_parameter,
    malformed_parameter,
    read_values,
)
from recollect.service.http.problem_details import Refused, not_found
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import (
    check_parameters,
    drop_cached_answers,
    existing_zone,
    principal_in,
    read,
    service_of,
    write,
)
from recollect.service.work.long_operations import LongOperation

# Operations that recall workers can answer; their results are encoded as JSON already.
_ENCODED = frozenset({"recall"})


def operation_handlers() -> list[HTTPRouteHandler]:
    """Return a handler for each declared operation."""
    return [_handler(operation) for operation in all_operations()]


def _handler(operation: Operation[..., Any]) -> HTTPRouteHandler:
    respond = _start if operation.long_running else _respond

    async def handle(request: AnyRequest) -> Response[bytes]:
        zone: str = request.path_params["zone"]
        if (key := request.headers.get(HEADER)) is not None:
            check_key(key)
        given = await input_of(operation, request)
        if operation.extra_right is not None and (right := operation.extra_right(given)):
            _check_right(request, zone, right)
        return await respond(operation, request, zone, given)

    handle.__name__ = operation.name
    path = operation.path
    for name in operation.path_parameters:
        kind = "int" if _is_int(operation, name) else "str"
        path = path.replace(f"{{{name}}}", f"{{{name}:{kind}}}")
    return route(
        path,
        http_method=operation.method,
        status_code=operation.status,
        opt={"right": operation.right},
        include_in_schema=False,
    )(handle)


def _is_int(operation: Operation[..., Any], name: str) -> bool:
    kinds = {field.name: field.type for field in msgspec.structs.fields(operation.input)}
    return getattr(kinds[name], "__origin__", kinds[name]) is int


def _check_right(request: AnyRequest, zone: str, right: Right) -> None:
    if not principal_in(request).has_right(zone, right):
        raise not_found()


async def input_of(operation: Operation[..., Any], request: AnyRequest) -> msgspec.Struct:
    """Parse an operation's input from the path, the query and the body of a request.

    Raises:
        Refused: a value is missing, unknown or invalid; the problem has its location.
    """
    if operation.has_body:
        check_parameters(request, ())
        content_type = request.headers.get("content-type", "")
        body = await request.body()
        if body:
            check_json(content_type)
        required = any(field.required for field in msgspec.structs.fields(operation.request_fields))
        rest = read_values(body if body or required else b"{}", operation.request_fields)
    else:
        rest = _parameters(operation, request)
    values = {name: getattr(rest, name) for name in rest.__struct_fields__}
    for name in operation.path_parameters:
        values[name] = request.path_params[name]
    try:
        return msgspec.convert(values, operation.input)
    except msgspec.ValidationError as error:
        # The other values are validated already, so a path parameter is invalid.
        raise invalid_parameter(error, operation.input) from None


def _parameters(operation: Operation[..., Any], request: AnyRequest) -> msgspec.Struct:
    check_parameters(request, operation.request_fields.__struct_fields__)
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(operation.request_fields):
        values = request.query_params.getall(field.encode_name, [])
        if values:
            given[field.name] = _value(field, values)
    try:
        return msgspec.convert(given, operation.request_fields, strict=False)
    except msgspec.ValidationError as error:
        raise invalid_parameter(error, operation.request_fields) from None


def _value(field: msgspec.structs.FieldInfo, values: list[str]) -> Any:
    """Parse a query parameter: a list repeats the parameter, an object is JSON."""
    origins = {get_origin(part) or part for part in alternatives(field.type)}
    if origins & {list, tuple, Sequence}:
        return values
    if len(values) > 1:
        raise malformed_parameter(field.encode_name, "it is given more than once")
    if origins & {dict, Mapping}:
        try:
            return decode(values[0].encode(), dict[str, Any])
        except Refused:
            raise malformed_parameter(field.encode_name, "it is not a JSON object") from None
    return values[0]


async def _respond(
    operation: Operation[..., Any], request: AnyRequest, zone: str, given: msgspec.Struct
) -> Response[bytes]:
    """Run an operation, and respond with its result."""
    service = service_of(request)

    def work(opened: Zone) -> Any:
        if operation.name in _ENCODED:
            return service.recall_workers.recall(opened, given)  # type: ignore[arg-type]
        args, kwargs = operation.arguments(given, principal=principal_in(request).metadata(zone))
        return getattr(opened, operation.name)(*args, **kwargs)

    if operation.asks_model:
        zone_opened = await existing_zone(request, zone)
        result = await service.inferring.run(lambda: work(zone_opened))
    elif operation.reads_only and (
        operation.extra_right is None or not operation.extra_right(given)
    ):
        result = await read(request, zone, work, must_exist=operation.needs_zone)
    else:
        result = await write(
            request,
            zone,
            work,
            allow_empty=operation.creates_zone,
            receipt_if_undecided=operation.answer is RememberReceipt,
        )
        if operation.erases and not getattr(given, "dry_run", False):
            drop_cached_answers(request, zone)
    if result is None:
        raise not_found()
    return _json(operation, result)


async def _start(
    operation: Operation[..., Any], request: AnyRequest, zone: str, given: msgspec.Struct
) -> Response[bytes]:
    """Start a long-running operation, and respond with its resource."""
    opened = await existing_zone(request, zone)
    service = service_of(request)
    # The ledger alone is asked, since an operation may repair the zone's files.
    head = await service.reading.run(opened.head)
    records = int(head.partition(":")[0])
    started: LongOperation = service.operations.start(
        opened,
        operation,
        given,
        who=principal_in(request).name,
        key=request.headers.get(HEADER),
        # A verification reads the change of each record too.
        total=2 * records if operation.name == "verify" else records,
    )
    return Response(
        msgspec.json.encode(started),
        media_type=MediaType.JSON,
        status_code=operation.status,
        headers={"Location": f"/v1/zones/{zone}/operations/{started.id}"},
    )


def _json(operation: Operation[..., Any], result: Any) -> Response[bytes]:
    if not isinstance(result, bytes):
        result = msgspec.json.encode(
            result if operation.response_field is None else {operation.response_field: result}
        )
    return Response(result, media_type=MediaType.JSON, status_code=operation.status)
