"""Mem0's filters over memories."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from recollect import InvalidInput

#: The fields that identify the owner of a memory; only Mem0's platform has `app_id`.
IDS = ("user_id", "agent_id", "app_id", "run_id")
#: Fields that can differ among the memories of one message.
MEMORY_FIELDS = ("memory_ids", "keywords")
#: The fields that filters may name, apart from metadata keys.
FIELDS = (
    *(*IDS, "actor_id", "role", "created_at", "updated_at", "timestamp", "expiration_date"),
    *("categories", "metadata", *MEMORY_FIELDS),
)


class _AnyField:
    def __contains__(self, name: object) -> bool:
        return True


#: Contains every name, since metadata may have any key.
ANY_FIELD: Container[str] = _AnyField()

_LOGIC = ("AND", "OR", "NOT")
_TIMES = ("created_at", "updated_at", "timestamp")
_OPERATORS = frozenset({"eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "icontains"})
_ANYTHING = "*"
_MAX_DEPTH = 16
# The minimum similarity (0 to 1) at which an unknown name may be a typo of a field.
_TYPO_SIMILARITY = 0.8
_ABSENT = object()


def check_filters(filters: Any, *, known: Container[str] = FIELDS, depth: int = 0) -> None:
    """Reject filters that are malformed or name an unknown field.

    Raises:
        InvalidInput: the message names the field.
    """
    if not isinstance(filters, Mapping):
        raise InvalidInput('filters is not an object; give one, such as {"user_id": "ada"}')
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"filters are nested more than {_MAX_DEPTH} levels deep; flatten them")
    for name, expected in filters.items():
        if name in _LOGIC:
            for clause in _clauses(name, expected):
                check_filters(clause, known=known, depth=depth + 1)
        elif name == "metadata" and isinstance(expected, Mapping):
            check_filters(expected, known=ANY_FIELD, depth=depth + 1)
        elif name not in known:
            similar = get_close_matches(str(name), FIELDS, 1, _TYPO_SIMILARITY)
            hint = f"did you mean {similar[0]}? The fields are" if similar else "choose from"
            raise InvalidInput(
                f"filters: no field {str(name)[:60]!r}; {hint} {', '.join(FIELDS)}; put metadata "
                "keys under `metadata`"
            )
        else:
            _check_condition(str(name), expected)


def names_unlike_fields(names: Iterable[str]) -> set[str]:
    """Return the names that are unlikely to be typos of a field."""
    return {name for name in names if not get_close_matches(name, FIELDS, 1, _TYPO_SIMILARITY)}


def named_fields(filters: Mapping[str, Any]) -> set[str]:
    """Return the names of the fields used in filters, except the fields of `metadata`."""
    found: set[str] = set()
    for name, expected in filters.items():
        if name in _LOGIC:
            found.update(*map(named_fields, _clauses(name, expected)))
        else:
            found.add(str(name))
    return found


def _clauses(name: str, expected: Any) -> list[Any]:
    clauses = [expected] if name == "NOT" and isinstance(expected, Mapping) else expected
    if not isinstance(clauses, list) or not clauses or not all(clauses):
        raise InvalidInput(f"filters: {name} takes a non-empty list of conditions")
    return clauses


def _check_condition(name: str, expected: Any) -> None:
    if isinstance(expected, Mapping):
        if not expected:
            raise InvalidInput(f"filters: {name} has no operator")
        for operator, value in expected.items():
            if operator not in _OPERATORS:
                known = ", ".join(sorted(_OPERATORS))
                raise InvalidInput(f"filters: operator {operator!r} of {name}: choose from {known}")
            if operator in ("in", "nin") and not isinstance(value, list):
                raise InvalidInput(f"filters: the operator {operator!r} of {name!r} takes a list")
    elif name in IDS:
        check_entity(expected, name)


def check_entity(value: Any, name: str) -> str:
    """Return the id of a user, agent, app or run as text, stripped of white space.

    Raises:
        InvalidInput: the id is empty, or contains white space or a lone surrogate.
    """
    text = "" if value is None else str(value).strip()
    if not text or text.split() != [text]:
        raise InvalidInput(f"{name}: give a non-empty identifier without spaces")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} contains a lone surrogate; send valid Unicode") from None
    return text


def names_an_owner(filters: Mapping[str, Any]) -> bool:
    """Return whether filters name an owner at any level; a NOT does not count."""
    return any(
        any(map(names_an_owner, _clauses(name, expected)))
        if name in ("AND", "OR")
        else name in IDS and expected is not None
        for name, expected in filters.items()
    )


def required_ids(filters: Mapping[str, Any]) -> dict[str, str]:
    """Return the owner ids that filters require of every matching memory, by field."""
    found: dict[str, str] = {}
    for name, expected in filters.items():
        if name == "AND":
            for clause in expected:
                found |= required_ids(clause)
        elif name in IDS and not isinstance(expected, Mapping) and expected != _ANYTHING:
            found[name] = check_entity(expected, name)
    return found


def matches(filters: Mapping[str, Any], memory: Mapping[str, Any]) -> bool:
    """Return whether filters match a memory, given by its fields."""
    return all(_matches_condition(name, expected, memory) for name, expected in filters.items())


def _matches_condition(name: str, expected: Any, memory: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(matches(clause, memory) for clause in expected)
    if name == "OR":
        return any(matches(clause, memory) for clause in expected)
    if name == "NOT":
        return not any(matches(clause, memory) for clause in _clauses(name, expected))
    metadata = memory.get("metadata") or {}
    if name == "metadata" and isinstance(expected, Mapping):
        return matches(expected, metadata)
    value = memory.get(name, metadata.get(name, _ABSENT))
    if name in IDS and isinstance(expected, int):
        expected = str(expected)
    if name == "keywords" and isinstance(expected, str):
        return _compare("icontains", name, value, expected)
    if name in FIELDS and isinstance(expected, list):
        return _compare("in", name, value, expected)
    if not isinstance(expected, Mapping):
        if expected == _ANYTHING:
            return value is not _ABSENT and value is not None
        return _compare("eq", name, value, expected.strip() if name in IDS else expected)
    return all(_compare(operator, name, value, with_) for operator, with_ in expected.items())


def _compare(operator: str, name: str, value: Any, expected: Any) -> bool:
    if name in _TIMES:
        value, expected = _to_seconds(value), _to_seconds(expected)
    if operator in ("ne", "nin"):
        return not _compare("eq" if operator == "ne" else "in", name, value, expected)
    if value is _ABSENT or value is None:
        return operator == "eq" and expected is None and value is None
    if operator == "eq":
        return _same(value, expected)
    if operator == "in":
        return any(_same(value, one) for one in expected)
    if operator in ("contains", "icontains"):
        return _contains(value, expected, folded=operator == "icontains")
    if isinstance(value, bool) or isinstance(expected, bool):
        return False
    if not (isinstance(value, str) and isinstance(expected, str)) and not (
        isinstance(value, int | float) and isinstance(expected, int | float)
    ):
        return False
    order = (value > expected) - (value < expected)  # type: ignore[operator]
    return {"gt": order > 0, "gte": order >= 0, "lt": order < 0, "lte": order <= 0}[operator]


def _same(value: Any, expected: Any) -> bool:
    # In JSON, true differs from 1. A list counts as equal to each of its items.
    if isinstance(value, list) and not isinstance(expected, list):
        return any(_same(one, expected) for one in value)
    return isinstance(value, bool) == isinstance(expected, bool) and bool(value == expected)


def _contains(value: Any, expected: Any, *, folded: bool) -> bool:
    if isinstance(value, list):
        return any(_contains(one, expected, folded=folded) for one in value)
    if not isinstance(value, str) or not isinstance(expected, str):
        return False
    return expected.casefold() in value.casefold() if folded else expected in value


def _to_seconds(value: Any) -> Any:
    """Convert ISO 8601 texts to unix seconds; return any other value unchanged."""
    if isinstance(value, list):
        return [_to_seconds(one) for one in value]
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            return value
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    return value
