"""The table of operations: what can be done with a zone, each described once.

An operation is a typed function over an open zone, with the right that it needs, its HTTP route
and, if agents may use it, its tool. The library, the remote and async libraries, the HTTP routes,
the OpenAPI document, the MCP tools and the reference are generated from the table.

    @operation("POST /merges", right="write", status=201, title="Propose a merge", tag="merges")
    def propose_merge(zone: OpenZone, entity_a: EntityId, ...) -> Receipt: ...

    class MergeOperations:
        propose_merge = propose_merge
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, update_wrapper
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_type_hints,
    overload,
)

import msgspec

from recollect.home.access_tokens import Right
from recollect.home.open_zone import OpenZone
from recollect.operations.table.argument_checks import Check, check_of, check_unicode

P = ParamSpec("P")
T = TypeVar("T")

Method = Literal["GET", "POST", "PATCH", "DELETE"]

#: Parameters for callers in the same process only, never part of a request: the caller's identity,
#: and the progress callback.
LOCAL_PARAMETERS = frozenset({"principal", "progress"})

#: Maximum characters of each text in a tool's answer, since a model's context is small.
SHORT_TEXT = 2_000
LONG_TEXT = 50_000

_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """How an operation is offered to agents over MCP.

    Its name is the operation's, after `verb` if the operation is named by a noun; `name` replaces
    it. `hidden`: parameters that agents cannot set. `defaults` replace the operation's own.
    `destructive`: it may remove memories; `idempotent`: repeating a call changes nothing more.
    `max_text_length`: the maximum characters of each text in an answer. `quotes_memories`: the
    answer quotes memories, and begins with a note that they are data. `shape`: a function that
    makes the answer for agents from the zone, the input and the result.
    """

    title: str
    description: str
    verb: Literal["list", "get"] | None = None
    name: str | None = None
    destructive: bool = False
    idempotent: bool = False
    max_text_length: int = SHORT_TEXT
    quotes_memories: bool = False
    hidden: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    shape: Callable[[Any, Any, Any], Any] | None = None


class Caller(Protocol):
    """Calls operations and waits for their results, as a zone does."""

    def call(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an operation."""


class AsyncCaller(Protocol):
    """A zone with awaitable operations."""

    async def call_async(
        self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run an operation on a thread."""


class Operation(Generic[P, T]):
    """An operation of the table.

    Calling it runs it on an open zone. As an attribute of a zone class it becomes a method with the
    function's signature, which the zone runs in its own home, over the network, or on a thread.
    """

    def __init__(
        self,
        function: Callable[Concatenate[OpenZone, P], T],
        *,
        method: Method,
        path: str,
        right: Right,
        title: str,
        tag: str,
        status: int = 200,
        body: type[msgspec.Struct] | None = None,
        to_input: Callable[P, msgspec.Struct] | None = None,
        to_arguments: Callable[[Any], tuple[Any, ...]] | None = None,
        extra_right: Callable[[Any], Right | None] | None = None,
        response_field: str | None = None,
        creates_zone: bool = False,
        needs_zone: bool = False,
        erases: bool = False,
        long_running: bool = False,
        asks_model: bool = False,
        stamp: str | None = None,
        tool: Tool | None = None,
        example: tuple[Any, Any] | None = None,
    ) -> None:
        """`path`: relative to a zone's path, with parameters as `{name}`.

        `body`: the type of the input, if it is not the list of parameters; `to_input` converts the
        arguments of a call in the library to it, and `to_arguments` converts it back. `extra_right`
        returns a further right that an input needs. `response_field`: over HTTP the result is
        the value of this field of an object. `creates_zone`: the operation may create the zone.
        `needs_zone`: it fails if the zone does not exist, even if it only reads. `erases`: it may
        erase text, so caches are cleared. `long_running`: over HTTP it runs in the background, and
        clients poll it. `asks_model`: it asks a language model, perhaps for minutes; over HTTP such
        calls have threads of their own. `stamp`: the parameter that a remote caller sets to the
        current time, so that a retried request is the same event. `example`: an input without the
        path's parameters, and an output.
        """
        update_wrapper(self, function)
        self.function = function
        self.method, self.path = method, path
        self.right, self.title, self.tag, self.status = right, title, tag, status
        self.to_input, self._to_arguments = to_input, to_arguments
        self.extra_right, self.response_field = extra_right, response_field
        self.creates_zone, self.needs_zone = creates_zone, needs_zone
        self.erases, self.long_running, self.stamp = erases, long_running, stamp
        self.asks_model = asks_model
        self.tool, self.example = tool, example
        self._body = body

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.function.__name__

    @property
    def tool_name(self) -> str:
        """The name of the tool."""
        tool = self.tool
        if tool is None or (tool.name is None and tool.verb is None):
            return self.name
        return tool.name or f"{tool.verb}_{self.name}"

    @property
    def description(self) -> str:
        """The docstring without its errors and examples."""
        text = inspect.cleandoc(self.function.__doc__ or "")
        return re.split(r"\n\n(?:Raises:|>>> )", text)[0].strip()

    @property
    def reads_only(self) -> bool:
        """Whether the operation changes nothing."""
        return self.right == "read" or self.method == "GET"

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature in the library, without the zone."""
        hints = self._hints
        signature = inspect.signature(self.function)
        _, *parameters = signature.parameters.values()
        typed = [item.replace(annotation=hints[item.name]) for item in parameters]
        return signature.replace(parameters=typed, return_annotation=self.output)

    @property
    def output(self) -> Any:
        """The type of the result."""
        return self._hints["return"]

    @cached_property
    def answer(self) -> Any:
        """The type of the answer over HTTP: the result's type, or an object that wraps it."""
        if self.response_field is None:
            return self.output
        described = msgspec.Meta(description=self.description.partition("\n")[0])
        fields: list[Any] = [(self.response_field, Annotated[self.output, described])]
        return msgspec.defstruct(f"{_camel(self.name)}Answer", fields, frozen=True)

    @property
    def optional(self) -> bool:
        """Whether the result may be None, for an unknown id."""
        return type(None) in get_args(self.output)

    @cached_property
    def input(self) -> type[msgspec.Struct]:
        """The struct of the parameters, with their types; unknown fields are forbidden."""
        if self._body is not None:
            return self._body
        fields: list[Any] = []
        for item in self.signature.parameters.values():
            if item.name in LOCAL_PARAMETERS:
                continue
            if item.kind is item.VAR_POSITIONAL:
                fields.append((item.name, _tuple_of(item.annotation), ()))
            elif item.default is item.empty:
                fields.append((item.name, item.annotation))
            else:
                fields.append((item.name, item.annotation, item.default))
        return _closed_struct(f"{_camel(self.name)}Input", fields)

    @cached_property
    def path_parameters(self) -> tuple[str, ...]:
        """The names of the parameters in the path."""
        return tuple(_PATH_PARAMETER.findall(self.path))

    @cached_property
    def request_fields(self) -> type[msgspec.Struct]:
        """The struct of the parameters outside the path: those of the body, or of the query."""
        kind = "Body" if self.has_body else "Parameters"
        fields = [
            _field(item)
            for item in msgspec.structs.fields(self.input)
            if item.name not in self.path_parameters
        ]
        return _closed_struct(f"{_camel(self.name)}{kind}", fields)

    @property
    def has_body(self) -> bool:
        """Whether a request carries its parameters in a body."""
        return self.method in ("POST", "PATCH")

    def has_parameter(self, name: str) -> bool:
        """Return whether the function has a parameter of this name."""
        return name in self.signature.parameters

    def arguments(
        self, input_: msgspec.Struct, **local: Any
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return an input as the arguments of a call in the library.

        `local`: values of LOCAL_PARAMETERS, ignored if the function does not have them.
        """
        local = {name: value for name, value in local.items() if self.has_parameter(name)}
        if self._to_arguments is not None:
            return self._to_arguments(input_), local
        args: tuple[Any, ...] = ()
        kwargs: dict[str, Any] = local
        for item in self.signature.parameters.values():
            if item.name in LOCAL_PARAMETERS:
                continue
            value = getattr(input_, item.name)
            if item.kind is item.VAR_POSITIONAL:
                args = (*args, *value)
            elif item.kind is item.POSITIONAL_ONLY:
                args = (*args, value)
            else:
                kwargs[item.name] = value
        return args, kwargs

    def request_values(self, *args: P.args, **kwargs: P.kwargs) -> dict[str, Any]:
        """Return the arguments of a call in the library as the JSON values of a request.

        Raises:
            InvalidInput: an argument has the wrong type.
            TypeError: the arguments do not match the signature.
        """
        bound = self._checked(*args, **kwargs)
        if self.to_input is not None:
            values = msgspec.to_builtins(self.to_input(*bound.args, **bound.kwargs))
            assert isinstance(values, dict)
            return values
        sent = {
            name: value for name, value in bound.arguments.items() if name not in LOCAL_PARAMETERS
        }
        values = msgspec.to_builtins(sent)
        assert isinstance(values, dict)
        return values

    def __call__(self, zone: OpenZone, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the operation on an open zone.

        Raises:
            InvalidInput: an argument has the wrong type, or the operation refuses a value.
        """
        if not self._checks:
            return self.function(zone, *args, **kwargs)
        bound = self._checked(*args, **kwargs)
        try:
            return self.function(zone, *bound.args, **bound.kwargs)
        except UnicodeEncodeError:
            check_unicode(bound.arguments)
            raise

    @overload
    def __get__(self, instance: None, owner: type) -> Operation[P, T]: ...
    @overload
    def __get__(self, instance: Caller, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, instance: AsyncCaller, owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the operation as a method of a zone."""
        if instance is None:
            return self
        if hasattr(instance, "call_async"):

            async def awaited(*args: P.args, **kwargs: P.kwargs) -> T:
                result: T = await instance.call_async(self, *args, **kwargs)
                return result

            return self._as_method(awaited)

        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            result: T = instance.call(self, *args, **kwargs)
            return result

        return self._as_method(called)

    def _checked(self, *args: P.args, **kwargs: P.kwargs) -> inspect.BoundArguments:
        """Return the arguments of a call in the library, each as a value of its type.

        Raises:
            InvalidInput: an argument has the wrong type.
            TypeError: the arguments do not match the signature.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}() {error}") from None
        for name, value in bound.arguments.items():
            if (check := self._checks.get(name)) is not None:
                bound.arguments[name] = check(name, value)
        return bound

    @cached_property
    def _checks(self) -> dict[str, Check]:
        """The checks of the parameters, without those that the operation checks itself."""
        found = {}
        for item in self.signature.parameters.values():
            variadic = item.kind is item.VAR_POSITIONAL
            check = check_of(_tuple_of(item.annotation) if variadic else item.annotation)
            if check is not None:
                found[item.name] = check
        return found

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    def _as_method(self, method: Any) -> Any:
        method.__name__, method.__doc__ = self.name, self.__doc__
        method.__qualname__ = f"Zone.{self.name}"
        plain = inspect.signature(self.function)
        method.__signature__ = plain.replace(parameters=list(plain.parameters.values())[1:])
        return method


def operation(
    route: str, **options: Any
) -> Callable[[Callable[Concatenate[OpenZone, P], T]], Operation[P, T]]:
    """Return a decorator that turns a function into an operation; see `Operation` for the options.

    `route`: the method, and the path relative to the zone's path: `GET /memories/{id}`.
    """
    method, _, path = route.partition(" ")

    def decorate(function: Callable[Concatenate[OpenZone, P], T]) -> Operation[P, T]:
        return Operation(function, method=method, path=path, **options)  # type: ignore[arg-type]

    return decorate


def operations_of(owner: type) -> Iterator[Operation[Any, Any]]:
    """Yield the operations of a class and its bases, in the order of their definition."""
    for base in owner.__mro__:
        for value in vars(base).values():
            if isinstance(value, Operation):
                yield value


def _closed_struct(name: str, fields: list[Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def _field(item: msgspec.structs.FieldInfo) -> Any:
    if item.default is not msgspec.NODEFAULT:
        return (item.name, item.type, item.default)
    if item.default_factory is not msgspec.NODEFAULT:
        return (item.name, item.type, msgspec.field(default_factory=item.default_factory))
    return (item.name, item.type)


def _tuple_of(kind: Any) -> Any:
    """Return the type of a tuple of these values, with the description of a single value."""
    notes = [note for note in getattr(kind, "__metadata__", ()) if isinstance(note, msgspec.Meta)]
    described = next((note.description for note in notes if note.description), None)
    return Annotated[tuple[kind, ...], msgspec.Meta(description=described)]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
