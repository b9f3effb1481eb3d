"""Mem0's filters: which memories they let through."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from recollect import InvalidInput

#: Whose a memory is; `app_id` is of the platform alone.
IDS = ("user_id", "agent_id", "app_id", "run_id")
#: Fields of one memory, where several may come from one message.
OF_ONE = ("memory_ids", "keywords")
#: The fields by which Mem0 filters, beside those of the metadata.
FIELDS = (
    *(*IDS, "actor_id", "role", "created_at", "updated_at", "timestamp", "expiration_date"),
    *("categories", "metadata", *OF_ONE),
)


class _AnyField:
    def __contains__(self, name: object) -> bool:
        return True


#: Holds every name: metadata has any.
ANY_FIELD: Container[str] = _AnyField()

_LOGIC = ("AND", "OR", "NOT")
_TIMES = ("created_at", "updated_at", "timestamp")
_OPERATORS = frozenset({"eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains"})
_ANYTHING = "*"
_DEEPEST = 16
# How alike two names are at least, from 0 to 1, of which one may be a slip for the other.
_ALIKE = 0.8
_ABSENT = object()


def check_filters(filters: Any, *, known: Container[str] = FIELDS, depth: int = 0) -> None:
    """Refuse filters that say nothing, or name a field that is not known.

    Raises:
        InvalidInput: the message names the field.
    """
    if not isinstance(filters, Mapping):
        raise InvalidInput('filters is no object; give one like {"user_id": "ada"}')
    if depth > _DEEPEST:
        raise InvalidInput("filters: nested too deeply")
    for name, wanted in filters.items():
        if name in _LOGIC:
            for clause in _clauses(name, wanted):
                check_filters(clause, known=known, depth=depth + 1)
        elif name == "metadata" and isinstance(wanted, Mapping):
            check_filters(wanted, known=ANY_FIELD, depth=depth + 1)
        elif name not in known:
            near = get_close_matches(str(name), FIELDS, 1, _ALIKE)
            meant = f"did you mean {near[0]}? There are" if near else "choose from"
            raise InvalidInput(
                f"filters: no field {str(name)[:60]!r}; {meant} {', '.join(FIELDS)}, and what is "
                "in the metadata stands under metadata"
            )
        else:
            _check_condition(str(name), wanted)


def unlike_fields(names: Iterable[str]) -> set[str]:
    """Return those of some names that are no slips for a field."""
    return {name for name in names if not get_close_matches(name, FIELDS, 1, _ALIKE)}


def named(filters: Mapping[str, Any]) -> set[str]:
    """Return the fields that filters name, but for those of the metadata."""
    found: set[str] = set()
    for name, wanted in filters.items():
        if name in _LOGIC:
            found.update(*map(named, _clauses(name, wanted)))
        else:
            found.add(str(name))
    return found


def _clauses(name: str, wanted: Any) -> list[Any]:
    clauses = [wanted] if name == "NOT" and isinstance(wanted, Mapping) else wanted
    if not isinstance(clauses, list) or not clauses or not all(clauses):
        raise InvalidInput(f"filters: {name} takes a list of conditions that is not empty")
    return clauses


def _check_condition(name: str, wanted: Any) -> None:
    if isinstance(wanted, Mapping):
        if not wanted:
            raise InvalidInput(f"filters: {name} says nothing")
        for operator, value in wanted.items():
            if operator not in _OPERATORS:
                known = ", ".join(sorted(_OPERATORS))
                raise InvalidInput(f"filters: operator {operator!r} of {name}: choose from {known}")
            if operator in ("in", "nin") and not isinstance(value, list):
                raise InvalidInput(f"filters: {operator} of {name} takes a list")
    elif name in IDS:
        check_entity(wanted, name)


def check_entity(value: Any, name: str) -> str:
    """Return an id of a user, an agent or a run as a text without space around it.

    Raises:
        InvalidInput: it is empty, or has a space within.
    """
    text = "" if value is None else str(value).strip()
    if not text or text.split() != [text]:
        raise InvalidInput(f"{name}: give an identifier, not empty and without spaces")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} holds a lone surrogate; send valid Unicode") from None
    return text


def names_somebody(filters: Mapping[str, Any]) -> bool:
    """Return whether filters say, anywhere, whose memories are meant."""
    return any(
        any(map(names_somebody, _clauses(name, wanted)))
        if name in ("AND", "OR")
        else name in IDS and wanted is not None
        for name, wanted in filters.items()
    )


def required(filters: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids that every memory must have which filters let through."""
    found: dict[str, str] = {}
    for name, wanted in filters.items():
        if name == "AND":
            for clause in wanted:
                found |= required(clause)
        elif name in IDS and not isinstance(wanted, Mapping) and wanted != _ANYTHING:
            found[name] = check_entity(wanted, name)
    return found


def passes(filters: Mapping[str, Any], memory: Mapping[str, Any]) -> bool:
    """Return whether a memory is let through; `memory` has its fields, and `metadata` its own."""
    return all(_holds(name, wanted, memory) for name, wanted in filters.items())


def _holds(name: str, wanted: Any, memory: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(passes(clause, memory) for clause in wanted)
    if name == "OR":
        return any(passes(clause, memory) for clause in wanted)
    if name == "NOT":
        return not any(passes(clause, memory) for clause in _clauses(name, wanted))
    metadata = memory.get("metadata") or {}
    if name == "metadata" and isinstance(wanted, Mapping):
        return passes(wanted, metadata)
    value = memory.get(name, metadata.get(name, _ABSENT))
    if name in IDS and isinstance(wanted, int):
        wanted = str(wanted)
    if name == "keywords" and isinstance(wanted, str):
        return _compares("icontains", name, value, wanted)
    if name in FIELDS and isinstance(wanted, list):
        return _compares("in", name, value, wanted)
    if not isinstance(wanted, Mapping):
        if wanted == _ANYTHING:
            return value is not _ABSENT and value is not None
        return _compares("eq", name, value, wanted.strip() if name in IDS else wanted)
    return all(_compares(operator, name, value, with_) for operator, with_ in wanted.items())


def _compares(operator: str, name: str, value: Any, wanted: Any) -> bool:
    if name in _TIMES:
        value, wanted = _moment(value), _moment(wanted)
    if operator in ("ne", "nin"):
        return not _compares("eq" if operator == "ne" else "in", name, value, wanted)
    if value is _ABSENT or value is None:
        return operator == "eq" and wanted is None and value is None
    if operator == "eq":
        return _same(value, wanted)
    if operator == "in":
        return any(_same(value, one) for one in wanted)
    if operator in ("contains", "icontains"):
        return _contains(value, wanted, folded=operator == "icontains")
    if isinstance(value, bool) or isinstance(wanted, bool):
        return False
    if not (isinstance(value, str) and isinstance(wanted, str)) and not (
        isinstance(value, int | float) and isinstance(wanted, int | float)
    ):
        return False
    order = (value > wanted) - (value < wanted)  # type: ignore[operator]
    return {"gt": order > 0, "gte": order >= 0, "lt": order < 0, "lte": order <= 0}[operator]


def _same(value: Any, wanted: Any) -> bool:
    # In JSON true is not 1; a list holds what it contains.
    if isinstance(value, list) and not isinstance(wanted, list):
        return any(_same(one, wanted) for one in value)
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _contains(value: Any, wanted: Any, *, folded: bool) -> bool:
    if isinstance(value, list):
        return any(_contains(one, wanted, folded=folded) for one in value)
    if not isinstance(value, str) or not isinstance(wanted, str):
        return False
    return wanted.casefold() in value.casefold() if folded else wanted in value


def _moment(value: Any) -> Any:
    """Return a time in seconds since 1970, where a value is one; a list of them likewise."""
    if isinstance(value, list):
        return [_moment(one) for one in value]
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return value
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    return value
