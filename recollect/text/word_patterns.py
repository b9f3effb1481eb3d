"""Patterns of many words, in the form in which `re` finds them fast."""

from __future__ import annotations

from collections.abc import Iterator


def any_of(alternatives: str) -> str:
    r"""Return a pattern of alternatives of which each begins a word, for text in small letters.

    It finds what rf"\b(?:{alternatives})" does. With that, `re` tries every alternative where any
    word begins or ends; with this, it passes over what none begins with, and tries those alone that
    begin with the letter at hand. Before that letter stand groups at most, (?:…) or (?:…)?.

    Raises:
        ValueError: an alternative begins with something else than a letter.
    """
    by_letter: dict[str, list[str]] = {}
    for one in _beginning_with_letters(alternatives):
        # What follows the letter says how often it stands there.
        if not one[:1].isalpha() or one[1:2] in {"?", "*", "+", "{"}:
            raise ValueError(f"{one!r} does not begin with a letter")
        by_letter.setdefault(one[0], []).append(one[1:])
    found = (rf"{letter}(?<=\b{letter})(?:{'|'.join(own)})" for letter, own in by_letter.items())
    return f"(?:{'|'.join(found)})"


def _beginning_with_letters(alternatives: str) -> Iterator[str]:
    """Yield alternatives in the order in which they are tried, with no group at their beginning."""
    for one in _split(alternatives):
        if not one.startswith("(?:"):
            yield one
            continue
        end = _end_of_group(one)
        rest = one[end + 1 :]
        optional = rest.startswith("?")
        rest = rest[optional:]
        if rest[:1] in {"?", "*", "+", "{"}:
            raise ValueError(f"{one!r} begins with a group that is repeated")
        for inner in (*_split(one[3:end]), *([""] if optional else [])):
            yield from _beginning_with_letters(inner + rest)


def _split(alternatives: str) -> Iterator[str]:
    """Yield the alternatives that stand in no group."""
    begin = depth = 0
    for place, sign in _signs(alternatives):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            yield alternatives[begin:place]
            begin = place + 1
    yield alternatives[begin:]


def _end_of_group(one: str) -> int:
    """Return where the group ends with which an alternative begins."""
    depth = 0
    for place, sign in _signs(one):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place
    raise ValueError(f"{one!r} has a group that is not closed")


def _signs(pattern: str) -> Iterator[tuple[int, str]]:
    """Yield what may be a sign: neither what is escaped nor what stands in a class."""
    in_class = escaped = False
    for place, sign in enumerate(pattern):
        if escaped or in_class or sign == "\\":
            in_class = in_class and (escaped or sign != "]")
            escaped = sign == "\\" and not escaped
            continue
        in_class = sign == "["
        yield place, sign
