"""Declared rules over the lexemes of a text, and the chart that applies them.

A rule gives the form of an expression, its meaning, the contexts in which it does not apply, and
examples and counter-examples. All patterns are compiled into one trie. The chart is filled from
the last lexeme to the first, so whatever begins further right is known when a rule needs it; a
rule that begins with a value is tried when that value is made. A lexeme that begins no rule costs
one look-up.

The syntax of a pattern:
    friday          the word, in lower case           a|b        either word
    b?              optional                          (a b | c)  either of two groups
    <month>         a value that other rules made     <a|b>      one of either kind
    {a|b}           a word, captured for `make`
    #  #2           digits, two digits; captured      ~a         with no white space before it
    @days           a word of a named class; {@days} captures it
A backslash escapes these signs. Alternative groups share their captures: `(<day> | on <month>)`
has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

#: Runs of digits, words with an inner apostrophe (except a genitive), line breaks, single signs.
_LEXEME = re.compile(r"\d+|[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*|\n|[^\w\s]|_")
_ONE = r"(?:\\.|[^\s|?()<>{}~\\])+"
_PIECE = re.compile(rf"{_ONE}(?:\|{_ONE})*|[|?()<>{{}}~]")
#: Limits: lexemes of an expression, and values of one kind that begin at the same lexeme.
_LONGEST, _MOST = 32, 8


class Lexeme(NamedTuple):
    """A word, a number or a sign, by its characters; `spaced`: white space precedes it."""

    lower: str
    start: int
    end: int
    spaced: bool


def lexemes(text: str, start: int, end: int) -> list[Lexeme]:
    """Return the lexemes between two offsets of a text; all apostrophes become straight."""
    found: list[Lexeme] = []
    before = start
    for match in _LEXEME.finditer(text, start, end):
        first, last = match.span()
        lower = match[0].lower().replace("’", "'")
        found.append(Lexeme(lower, first, last, first > before))
        before = last
    return found


class Example(NamedTuple):
    """A text that a rule matches, and the meaning that it has there."""

    text: str
    means: str


class Rule(NamedTuple):
    """The form of an expression of the kind `makes`, and its meaning.

    `make` gets the state of the reading and one argument for each capture of the pattern, None if
    it was left out; it returns None if they make no sense together. `unless` names where the rule
    does not apply: "before X" and "after X" (a pattern that precedes or follows the expression),
    "only before X", "only after X", or the name of a condition. Of several expressions of one kind
    and length, the one with the highest `priority` wins.
    """

    id: str
    makes: str
    pattern: str
    make: Callable[..., Any]
    unless: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    counters: tuple[str, ...] = ()
    priority: int = 0


class Match(NamedTuple):
    """A value that a rule made from the lexemes `left` to `right` (exclusive)."""

    kind: str
    left: int
    right: int
    value: Any
    rule: Rule
    parts: tuple[Match, ...]

    def trace(self) -> tuple[str, ...]:
        """Return the ids of the rules that produced the value, the last one first."""
        ids = [self.rule.id, *(each for part in self.parts for each in part.trace())]
        return tuple(dict.fromkeys(ids))


class _Piece(NamedTuple):
    """One step of a pattern: words, a value of a kind, or just the end of the pattern."""

    words: frozenset[str]  # with "#" and "#2" for digits
    kind: str
    tight: bool
    captured: bool


#: One expansion of a pattern: its pieces, and for each capture its number in the pattern.
_Way = tuple[tuple[_Piece, int], ...]
#: Whether a condition holds for the expression from one lexeme to before another.
Condition = Callable[["Reading", int, int], bool]
#: Finds the values of a kind that begin at a lexeme: (the lexeme after it, the value).
Terminal = Callable[["Reading", int], list[tuple[int, Any]]]


class _Node:
    """A node of the trie of all patterns."""

    __slots__ = ("accepts", "by_kind", "by_word", "children")

    def __init__(self) -> None:
        self.children: dict[_Piece, _Node] = {}
        self.by_word: dict[str, list[tuple[_Piece, _Node]]] = {}
        self.by_kind: dict[str, list[tuple[_Piece, _Node]]] = {}
        self.accepts: list[tuple[int, tuple[int, ...], int]] = []

    def child(self, piece: _Piece) -> _Node:
        """Return the node after a piece; make it if there is none."""
        node = self.children.get(piece)
        if node is None:
            node = self.children[piece] = _Node()
            for word in piece.words:
                self.by_word.setdefault(word, []).append((piece, node))
            if piece.kind:
                self.by_kind.setdefault(piece.kind, []).append((piece, node))
        return node


class _Guard(NamedTuple):
    """A compiled "before", "after" or condition."""

    only: bool
    before: tuple[tuple[frozenset[str], ...], ...]
    after: _Node | None
    condition: Condition | None


class Grammar:
    """Rules that are applied together.

    `classes` gives the words of each "@name", `conditions` the conditions that `unless` can name,
    `terminals` the kinds whose values a function finds.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        classes: Mapping[str, frozenset[str]],
        conditions: Mapping[str, Condition],
        terminals: Mapping[str, Terminal],
        disabled: frozenset[str] = frozenset(),
    ) -> None:
        self.rules = tuple(rule for rule in rules if rule.id not in disabled)
        self.terminals = terminals
        self._classes, self._conditions = classes, conditions
        self.root = _Node()
        self.guards: list[tuple[_Guard, ...]] = []
        for number, rule in enumerate(self.rules):
            self.guards.append(tuple(self._guard(condition) for condition in rule.unless))
            ways, captures = _expansions(rule.pattern, classes)
            for way in ways:
                node = self.root
                for piece, _ in way:
                    node = node.child(piece)
                slots = tuple(slot for piece, slot in way if piece.captured)
                node.accepts.append((number, slots, captures))
        made = {rule.makes for rule in self.rules}
        #: The terminals that no pattern begins with, which are sought where a pattern needs them.
        self.inner = terminals.keys() - self.root.by_kind.keys() - made

    def _guard(self, written: str) -> _Guard:
        words = written.split(None, 1)
        only = words[0] == "only"
        if only:
            words = words[1].split(None, 1)
        if words[0] not in ("before", "after"):
            return _Guard(only, (), None, self._conditions[words[0]])
        ways, _ = _expansions(words[1], self._classes)
        if words[0] == "before":
            before = tuple(tuple(piece.words for piece, _ in reversed(way)) for way in ways)
            return _Guard(only, before, None, None)
        node = _Node()
        for way in ways:
            at = node
            for piece, _ in way:
                at = at.child(piece)
            at.accepts.append((0, (), 0))
        return _Guard(only, (), node, None)


class Reading:
    """The parse chart of one stretch of text; `state` is passed to the rules' functions."""

    def __init__(self, grammar: Grammar, text: str, words: Sequence[Lexeme], state: Any) -> None:
        self.text, self.words, self.state = text, words, state
        self._grammar = grammar
        self._size = len(words)
        self._chart: list[dict[str, list[Match]]] = [{} for _ in range(self._size + 1)]
        by_word, inner = grammar.root.by_word, grammar.inner
        opening = [kind for kind in grammar.terminals if kind not in inner]
        for at in range(self._size - 1, -1, -1):
            self._made: list[Match] = []
            lower = words[at].lower
            for kind in opening:
                self._find(kind, at)
            if lower in by_word or lower[0].isdigit():
                self._words(grammar.root, at, at, (), ())
            for match in self._made:  # grows meanwhile
                for piece, node in grammar.root.by_kind.get(match.kind, ()):
                    captured = (match.value,) if piece.captured else ()
                    self._walk(node, at, match.right, captured, (match,))

    def lower(self, at: int) -> str:
        """Return the lexeme at an index in lower case; empty if out of range."""
        return self.words[at].lower if 0 <= at < self._size else ""

    def written(self, at: int) -> str:
        """Return the lexeme at an index as it is written."""
        return self.text[self.words[at].start : self.words[at].end] if 0 <= at < self._size else ""

    def starting(self, kind: str, at: int) -> Sequence[Match]:
        """Return the values of a kind that begin at a lexeme."""
        if at >= self._size:
            return ()
        begun = self._chart[at]
        if kind in self._grammar.inner and kind not in begun:
            begun[kind] = []
            self._find(kind, at)
        return begun.get(kind, ())

    def best(self, kinds: frozenset[str]) -> list[Match]:
        """Return the longest expressions of some kinds, in order and without overlap."""
        matches = [
            match
            for begun in self._chart
            for kind in begun.keys() & kinds
            for match in begun[kind]
            if not (self._is_inner(match.left) or self._is_inner(match.right))
        ]
        matches.sort(key=lambda it: (it.left - it.right, -it.rule.priority, it.left, it.kind))
        taken = [False] * self._size
        best = []
        for match in matches:
            if not (taken[match.left] or taken[match.right - 1]):
                taken[match.left : match.right] = [True] * (match.right - match.left)
                best.append(match)
        return sorted(best, key=lambda it: it.left)

    def _is_inner(self, at: int) -> bool:
        """Whether an index between two lexemes is inside a word: "BestOf|2011"."""
        if not 0 < at < self._size or self.words[at].spaced:
            return False
        one, other = self.words[at - 1].lower[-1], self.words[at].lower[0]
        return (one.isalnum() or one == "_") and (other.isalnum() or other == "_")

    def _walk(
        self, node: _Node, left: int, at: int, values: tuple[Any, ...], parts: tuple[Match, ...]
    ) -> None:
        """Continue from a node of the tree, with the captures so far, at a lexeme."""
        for number, slots, captures in node.accepts:
            self._accept(number, slots, captures, left, at, values, parts)
        if at == self._size or at - left >= _LONGEST:
            return
        if node.by_word:
            self._words(node, left, at, values, parts)
        begun, inner = self._chart[at], self._grammar.inner
        if begun or inner:
            for kind, following in node.by_kind.items():
                for match in self.starting(kind, at) if kind in inner else begun.get(kind, ()):
                    for piece, child in following:
                        if not (piece.tight and self.words[at].spaced):
                            captured = (*values, match.value) if piece.captured else values
                            self._walk(child, left, match.right, captured, (*parts, match))

    def _words(
        self, node: _Node, left: int, at: int, values: tuple[Any, ...], parts: tuple[Match, ...]
    ) -> None:
        word = self.words[at]
        for key in _keys(word.lower):
            for piece, child in node.by_word.get(key, ()):
                if not (piece.tight and word.spaced):
                    captured = (*values, word.lower) if piece.captured else values
                    self._walk(child, left, at + 1, captured, parts)

    def _accept(
        self,
        number: int,
        slots: tuple[int, ...],
        captures: int,
        left: int,
        right: int,
        values: tuple[Any, ...],
        parts: tuple[Match, ...],
    ) -> None:
        """Apply a rule to its captures, unless a guard forbids it."""
        for guard in self._grammar.guards[number]:
            if self._holds(guard, left, right) != guard.only:
                return
        given: list[Any] = [None] * captures
        for slot, value in zip(slots, values, strict=True):
            given[slot] = value
        rule = self._grammar.rules[number]
        made = rule.make(self.state, *given)
        if made is not None:
            self._add(Match(rule.makes, left, right, made, rule, parts))

    def _find(self, kind: str, at: int) -> None:
        """Add the values of a terminal that begin at a lexeme."""
        for right, value in self._grammar.terminals[kind](self, at):
            self._add(Match(kind, at, right, value, Rule(kind, kind, "", _nothing), ()))

    def _add(self, match: Match) -> None:
        begun = self._chart[match.left].setdefault(match.kind, [])
        for index, other in enumerate(begun):
            if other.right == match.right:
                if other.rule.priority >= match.rule.priority:
                    return
                begun[index] = match
                break
        else:
            if len(begun) >= _MOST:
                return
            begun.append(match)
        self._made.append(match)

    def _holds(self, guard: _Guard, left: int, right: int) -> bool:
        if guard.condition is not None:
            return guard.condition(self, left, right)
        if guard.after is not None:
            return self._follows(guard.after, right)
        return any(
            len(way) <= left
            and all(
                not words.isdisjoint(_keys(self.words[left - 1 - back].lower))
                for back, words in enumerate(way)
            )
            for way in guard.before
        )

    def _follows(self, node: _Node, at: int) -> bool:
        if node.accepts:
            return True
        if at >= self._size:
            return False
        word = self.words[at]
        for key in _keys(word.lower):
            for piece, child in node.by_word.get(key, ()):
                if not (piece.tight and word.spaced) and self._follows(child, at + 1):
                    return True
        return any(
            self._follows(child, match.right)
            for kind, following in node.by_kind.items()
            for match in self.starting(kind, at)
            for _, child in following
        )


def _keys(lower: str) -> tuple[str, ...]:
    """Return the keys under which the trie finds a lexeme."""
    if lower.isdecimal() and lower.isascii():
        return lower, "#", f"#{len(lower)}"
    return (lower,)


def _nothing(*_: Any) -> None:
    return None


def _expansions(pattern: str, classes: Mapping[str, frozenset[str]]) -> tuple[list[_Way], int]:
    """Return all expansions of a pattern, and its number of captures."""
    parser = _Parser(pattern, classes)
    ways = [way for way in parser.alternatives() if way]
    if not parser.at_end():
        raise ValueError(f"unmatched closing bracket: {pattern}")
    return list(dict.fromkeys(ways)), parser.captures


class _Parser:
    """Parses a pattern into its expansions."""

    def __init__(self, pattern: str, classes: Mapping[str, frozenset[str]]) -> None:
        self._pieces = _PIECE.findall(pattern)
        self._pattern, self._classes = pattern, classes
        self._at = 0
        self.captures = 0

    def at_end(self) -> bool:
        """Whether the pattern has been read to its end."""
        return self._at == len(self._pieces)

    def _peek(self) -> str:
        return self._pieces[self._at] if self._at < len(self._pieces) else ""

    def _next(self) -> str:
        self._at += 1
        return str(self._pieces[self._at - 1])

    def alternatives(self) -> list[_Way]:
        """Parse the alternatives between brackets, separated by bars, whose captures correspond."""
        before = self.captures
        expansions = self._sequence()
        most = self.captures
        while self._peek() == "|":
            self._next()
            self.captures = before
            expansions += self._sequence()
            most = max(most, self.captures)
        self.captures = most
        return expansions

    def _sequence(self) -> list[_Way]:
        items: list[list[_Way]] = []
        while self._peek() and self._peek() not in "|)":
            item = self._item()
            if self._peek() == "?":
                self._next()
                item = [*item, ()]
            items.append(item)
        return [tuple(step for part in parts for step in part) for parts in product(*items)]

    def _item(self) -> list[_Way]:
        tight = self._peek() == "~"
        if tight:
            self._next()
        sign = self._next()
        if sign == "(":
            inner = self.alternatives()
            self._close(")")
            return inner
        if sign == "<":
            kinds = self._next().split("|")
            self._close(">")
            slot = self.captures
            self.captures += 1
            pieces = (_Piece(frozenset(), kind, tight, True) for kind in kinds)
            return [((piece, slot),) for piece in pieces]
        captured = sign == "{"
        if captured:
            sign = self._next()
            self._close("}")
        words = [self._word(word) for word in sign.split("|")]
        captured = captured or sign.startswith("#")
        piece = _Piece(frozenset[str]().union(*words), "", tight, captured)
        slot = self.captures
        self.captures += captured
        return [((piece, slot),)]

    def _word(self, sign: str) -> frozenset[str]:
        if sign.startswith("@") and len(sign) > 1:
            return self._classes[sign[1:]]
        return frozenset({sign.replace("\\", "")})

    def _close(self, sign: str) -> None:
        if self._peek() != sign:
            raise ValueError(f"missing closing bracket: {self._pattern}")
        self._next()


def rule(
    id: str,
    makes: str,
    pattern: str,
    make: Callable[..., Any],
    told: str = "",
    *,
    unless: tuple[str, ...] = (),
    counters: tuple[str, ...] = (),
    priority: int = 0,
) -> Rule:
    """Return a rule whose examples are written one to a line: "in May -> 2026-05"."""
    pairs = (line.strip().split(" -> ") for line in told.splitlines() if line.strip())
    examples = tuple(Example(text, means) for text, means in pairs)
    return Rule(id, makes, pattern, make, unless, examples, counters, priority)
