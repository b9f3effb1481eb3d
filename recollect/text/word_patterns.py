"""Patterns of many words, compiled so that `re` finds them fast."""

from __future__ import annotations

from collections.abc import Iterator


def any_of(alternatives: str) -> str:
    r"""Return a pattern of alternatives, each beginning with a letter, for lower-case text.

    It matches what rf"\b(?:{alternatives})" matches, but faster: for the latter, `re` tries all
    alternatives at every word boundary; here it tries only those that begin with the letter at
    hand. An alternative may begin with groups, (?:…) or (?:…)?.

    Raises:
        ValueError: an alternative begins with something other than a letter.
    """
    by_letter: dict[str, list[str]] = {}
    for one in _beginning_with_letters(alternatives):
        # A quantifier would apply to the letter that is split off.
        if not one[:1].isalpha() or one[1:2] in {"?", "*", "+", "{"}:
            raise ValueError(f"{one!r} does not begin with a letter")
        by_letter.setdefault(one[0], []).append(one[1:])
    patterns = (rf"{letter}(?<=\b{letter})(?:{'|'.join(own)})" for letter, own in by_letter.items())
    return f"(?:{'|'.join(patterns)})"


def _beginning_with_letters(alternatives: str) -> Iterator[str]:
    """Yield the alternatives in the order in which they are tried, with leading groups expanded."""
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
    """Yield the top-level alternatives."""
    begin = depth = 0
    for place, sign in _signs(alternatives):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            yield alternatives[begin:place]
            begin = place + 1
    yield alternatives[begin:]


def _end_of_group(one: str) -> int:
    """Return the index of the parenthesis that closes the leading group."""
    depth = 0
    for place, sign in _signs(one):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place
    raise ValueError(f"{one!r} has a group that is not closed")


def _signs(pattern: str) -> Iterator[tuple[int, str]]:
    """Yield each possible metacharacter: neither escaped nor in a character class."""
    in_class = escaped = False
    for place, sign in enumerate(pattern):
        if escaped or in_class or sign == "\\":
            in_class = in_class and (escaped or sign != "]")
            escaped = sign == "\\" and not escaped
            continue
        in_class = sign == "["
        yield place, sign
