"""Pages of a memory as Markdown: their content, file names, and Open Knowledge Format.

A page in the Open Knowledge Format (version 0.2,
https://github.com/GoogleCloudPlatform/knowledge-catalog) is the same page with YAML front matter:
its type, title, description, generator, time of the last change and source events. The values are
written as JSON, which is valid YAML.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from recollect.schemas.text_sanitising import collapse_whitespace, escape_invisible, pluralise
from recollect.schemas.wire import Directive, Entity, Fact, MentalModel, Observation, TimelineDay

OKF_VERSION = "0.2"
#: The last line of the index of every exported folder.
FOLDER_MARK = "<!-- exported by recollect -->"
SUFFIX = ".md"
INDEX, TIMELINE, DIRECTIVES = (f"{name}{SUFFIX}" for name in ("index", "timeline", "directives"))

_MAX_SLUG = 40
# Letters that Unicode does not decompose into a letter of ASCII and an accent.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
_ID_END = 10
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$^]")
# Beginnings of a line that Markdown reads as a heading, a list, a quotation or a rule.
_BLOCK_START = re.compile(r"(?:[-+#=:>]|\d+(?=[.)]))")


class PageHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is about. `path`: in the folder, with slashes. `at`: when it changed last."""

    path: str
    type: str
    title: str
    description: str
    at: str | None = None
    tags: Sequence[str] = ()
    sources: Sequence[str] = ()


def escaped(text: str) -> str:
    """Return a text on one line, so that Markdown shows it as it is."""
    line = _SPECIAL.sub(r"\\\g<0>", escape_invisible(collapse_whitespace(text)))
    begins = _BLOCK_START.match(line)
    if begins is None:
        return line
    # For a numbered list, escape the sign after the number.
    at = begins.end() if line[0].isdecimal() else 0
    return f"{line[:at]}\\{line[at:]}"


def code(text: str) -> str:
    """Return a text on one line as a code span."""
    line = escape_invisible(collapse_whitespace(text))
    fence = "`"
    while fence in line:
        fence += "`"
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def page_name(title: str, id: str) -> str:
    """Return a file name that every system allows: lower-case letters, digits and hyphens.

    It ends with the end of the id, so that two titles never share a name.
    """
    # Case folding writes ß as ss.
    folded = unicodedata.normalize("NFKD", title.casefold())
    plain = folded.translate(_LETTERS).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_MAX_SLUG].strip("-")
    return f"{slug}-{id[-_ID_END:].lower()}{SUFFIX}".lstrip("-")


def head_lines(head: PageHead, made_by: str, zone: str) -> Iterator[str]:
    """Yield the lines of a page's head in the Open Knowledge Format."""
    yield "---"
    yield f"type: {_yaml(head.type)}"
    yield f"title: {_yaml(head.title)}"
    yield f"description: {_yaml(head.description)}"
    if head.tags:
        yield f"tags: [{', '.join(map(_yaml, head.tags))}]"
    made = f", at: {_yaml(head.at)}" if head.at else ""
    yield f"generated: {{ by: {_yaml(made_by)}{made} }}"
    if head.sources:
        yield "sources:"
        for source in head.sources:
            yield f"  - resource: {_yaml(f'event {source} of the zone {zone}')}"
    yield "---"
    yield ""


def _yaml(value: str) -> str:
    return json.dumps(escape_invisible(collapse_whitespace(value)), ensure_ascii=False)


def fact_line(fact: Fact) -> str:
    """Return a fact with its day, its author and its sources, as an item of a list."""
    days = fact.as_of[:10]
    if fact.when is not None:
        first, last = fact.when.first, fact.when.last
        days = str(first) if first == last else f"{first} to {last}"
    by = f", {escaped(fact.said_by)}" if fact.said_by else ""
    sources = ", ".join(map(code, fact.source_event_ids))
    return f"* {escaped(fact.text)} ({days}{by}; {sources})"


def entity_lines(
    entity: Entity,
    facts: Iterable[Fact],
    observations: Iterable[Observation],
    models: Iterable[MentalModel],
) -> Iterator[str]:
    """Yield the body of an entity's page."""
    yield f"# {escaped(entity.name)}"
    yield ""
    yield escaped(entity.type.capitalize())
    if entity.aliases:
        yield ""
        yield f"Also {', '.join(map(escaped, entity.aliases))}"
    if entity.handles:
        yield ""
        accounts = (f"{escaped(one.platform)} {code(one.handle)}" for one in entity.handles)
        yield f"Accounts: {', '.join(accounts)}"
    for model in models:
        yield from _section(model.name, _model_text(model))
    yield from _section("Facts", map(fact_line, facts))
    yield from _section("Observations", (f"* {escaped(one.text)}" for one in observations))


def model_lines(model: MentalModel) -> Iterator[str]:
    """Yield the body of a mental model's page."""
    yield f"# {escaped(model.name)}"
    yield ""
    yield from _model_text(model)


def _model_text(model: MentalModel) -> Iterator[str]:
    """Yield the lines of a report; of its Markdown, headings and lists are kept."""
    in_list = True
    for line in filter(str.strip, model.description.splitlines()):
        heading, item = line.removeprefix("## "), line.removeprefix("- ")
        if not (in_list and item != line):
            yield ""
        in_list = item != line
        if heading != line:
            yield f"### {escaped(heading)}"
        else:
            yield f"* {escaped(item)}" if in_list else escaped(line)


def directive_lines(directives: Iterable[Directive]) -> Iterator[str]:
    """Yield the body of the page of standing instructions."""
    yield "# Directives"
    yield ""
    for directive in directives:
        yield f"* {escaped(directive.text)}"


def timeline_lines(days: Iterable[TimelineDay]) -> Iterator[str]:
    """Yield the body of the timeline."""
    yield "# Timeline"
    shown = ""
    for day in days:
        if day.day != shown:
            shown = day.day
            yield ""
            yield f"## {day.day}"
            yield ""
        for item in day.items:
            ended = "" if item.current else " (no longer current)"
            yield f"* {escaped(item.text)}{ended}"


def index_lines(zone: str, heads: Sequence[PageHead]) -> Iterator[str]:
    """Yield the body of the index, by types of pages."""
    yield f"# Memory of {escaped(zone)}"
    for type_ in dict.fromkeys(head.type for head in heads):
        items = (
            f"* [{escaped(head.title)}]({head.path}) - {escaped(head.description)}"
            for head in heads
            if head.type == type_
        )
        yield from _section(type_, items, level=1)
    yield ""
    yield FOLDER_MARK


def _section(title: str, lines: Iterable[str], level: int = 2) -> Iterator[str]:
    """Yield a section, unless it is empty."""
    is_empty = True
    for line in lines:
        if is_empty:
            is_empty = False
            yield ""
            yield f"{'#' * level} {escaped(title)}"
            yield ""
        yield line


def entity_head(entity: Entity, facts: Sequence[Fact], path: str) -> PageHead:
    """Return the head of an entity's page."""
    return PageHead(
        path=path,
        type=entity.type.capitalize(),
        title=entity.name,
        description=f"{entity.type.capitalize()}, {pluralise(len(facts), 'current fact')}",
        at=max((fact.said.last for fact in facts), default=None),
        tags=[entity.type],
        sources=list(dict.fromkeys(id for fact in facts for id in fact.source_event_ids)),
    )
