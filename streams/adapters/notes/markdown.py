"""The words of a note in Markdown, without what only links and embeds files.

Headings and wiki links become their words, embedded files become attachments, and quotations are
separated from the writer's own words. Code is left as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from recollect.schemas.events import Attachment
from recollect.streams.adapters.input.file_types import attachment_type

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_CLOSING_MARKS = re.compile(r"(?:(?<=[ \t])|\A)#+\Z")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
# "> [!note] Title": a box, whose words are the writer's own.
_CALLOUT = re.compile(r"\[!([\w-]+)\][+-]?[ \t]*")
_COMMENT_END = {"<!--": "-->", "%%": "%%"}
_COMMENT = re.compile("|".join(_COMMENT_END))
_BACKTICKS = re.compile("`+")
_LINK = re.compile(
    # ![[file|alias]], [[note#heading|alias]]
    r"(?P<embed>!?)(?:\[\[(?P<wiki>[^\[\]\n|]{1,400})(?:\|(?P<alias>[^\[\]\n]{0,400}))?\]\]"
    # ![words](address "title"), [words](<address>)
    r"|\[(?P<words>[^\[\]\n]{0,400})\]"
    r"\((?P<address><[^<>\n]{1,2000}>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)"
    r"(?:\s+\"[^\"\n]*\")?\))"
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}:", re.IGNORECASE)
_WIDTH = re.compile(r"\d+(?:x\d+)?")
_SUFFIX = re.compile(r"\.\w{1,8}\Z")
_NOTE_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")
_TAG = re.compile(r"(?<![\w/#&(\[])#((?=[\w/-]*[^\W\d])[\w/-]+)")


class NoteWords(NamedTuple):
    """The words of a note: its own text, its quotations, its files, links to notes, and tags.

    `heading`: the heading with which its text begins; empty if there is none.
    """

    heading: str
    text: str
    quoted: str
    attachments: tuple[Attachment, ...]
    links: list[str]
    tags: list[str]


def words_of(markdown: str) -> NoteWords:
    """Return the words of a note."""
    markdown = _without_comments(markdown)
    reader = _Reader()
    reader.read(markdown)
    own = re.sub(r"\n{3,}", "\n\n", "\n".join(reader.own_lines)).strip()
    return NoteWords(
        own.partition("\n")[0] if _HEADING.match(markdown.lstrip("\n")) else "",
        own,
        "\n".join(reader.quoted).strip(),
        tuple(reader.attachments),
        list(dict.fromkeys(reader.links)),
        list(dict.fromkeys(reader.tags)),
    )


def _without_comments(markdown: str) -> str:
    """Return a text without the comments outside code; one that is never closed stays."""
    code = list(_code_in(markdown))
    starts = [start for start, _ in code]
    kept, copied, at = [], 0, 0
    unclosed: set[str] = set()
    while (mark := _COMMENT.search(markdown, at)) is not None:
        at = mark.end()
        place = bisect_right(starts, mark.start()) - 1
        if place >= 0 and mark.start() < code[place][1]:
            at = code[place][1]
        elif mark[0] not in unclosed:
            closing = _COMMENT_END[mark[0]]
            end = markdown.find(closing, mark.end())
            if end < 0:
                unclosed.add(mark[0])
                continue
            kept.append(markdown[copied : mark.start()])
            copied = at = end + len(closing)
    return "".join((*kept, markdown[copied:]))


def _code_in(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the code in a text: of lines in fences, and of spans in other lines."""
    at, fence = 0, ""
    for line in markdown.split("\n"):
        before, fence = fence, _fence_after(line, fence)
        if before or fence:
            yield at, at + len(line)
        else:
            yield from ((at + start, at + end) for start, end in _code_spans(line))
        at += len(line) + 1


def _fence_after(line: str, fence: str) -> str:
    """Return the marks of the fence that is open after a line; "" if none is."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and not line.strip().strip(fence[0]) else fence


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the code in a line: from some backticks to the next as many."""
    runs = [mark.span() for mark in _BACKTICKS.finditer(line)]
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, (start, end) in enumerate(runs):
        by_length[end - start].append(place)
    place = 0
    while place < len(runs):
        start, end = runs[place]
        alike = by_length[end - start]
        closing = bisect_right(alike, place)
        if closing < len(alike):
            place = alike[closing]
            yield start, runs[place][1]
        place += 1


def _heading_words(line: str) -> str:
    """Return the words of a heading; another line as it is."""
    found = _HEADING.match(line)
    return line if found is None else _CLOSING_MARKS.sub("", line[found.end() :].strip()).rstrip()


class _Reader:
    def __init__(self) -> None:
        self.own_lines: list[str] = []
        self.quoted: list[str] = []
        self.attachments: list[Attachment] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def read(self, markdown: str) -> None:
        fence = ""
        in_quote = in_callout = False
        for line in markdown.split("\n"):
            before, fence = fence, _fence_after(line, fence)
            if before or fence:
                self.own_lines.append(line)
                continue
            quote = _QUOTE.match(line)
            if quote is None:
                in_quote = in_callout = False
                self.own_lines.append(self._plain(_heading_words(line)))
                continue
            inner = line[quote.end() :]
            if not in_quote and (callout := _CALLOUT.match(inner)):
                in_callout = True
                inner = inner[callout.end() :]
            in_quote = True
            (self.own_lines if in_callout else self.quoted).append(self._plain(inner))

    def _plain(self, line: str) -> str:
        """Return a line without markup of links, outside code."""
        plain, at = [], 0
        for start, end in _code_spans(line):
            plain += [self._without_links(line[at:start]), line[start:end]]
            at = end
        plain.append(self._without_links(line[at:]))
        return _BLOCK_ID.sub("", "".join(plain)).rstrip()

    def _without_links(self, text: str) -> str:
        self.tags += _TAG.findall(text)
        return _HIGHLIGHT.sub(r"\1", _LINK.sub(self._link, text))

    def _link(self, found: re.Match[str]) -> str:
        """Return the words of a link; record the note or the file to which it leads."""
        if found["wiki"] is None:
            return self._markdown_link(found)
        target, alias = found["wiki"].strip(), (found["alias"] or "").strip()
        page, _, place = target.partition("#")
        file = page.rpartition("/")[2].rstrip("\\")
        if found["embed"] and _SUFFIX.search(file) and not _NOTE_SUFFIX.search(file):
            caption = None if not alias or _WIDTH.fullmatch(alias) else alias
            self.attachments.append(
                Attachment(type=attachment_type(file), name=file, caption=caption)
            )
            return ""
        name = _NOTE_SUFFIX.sub("", file)
        if name:
            self.links.append(_NOTE_SUFFIX.sub("", page.rstrip("\\")))
        place = place.rpartition("#")[2]
        shown = ", ".join(one for one in (name, "" if place.startswith("^") else place) if one)
        return alias or shown

    def _markdown_link(self, found: re.Match[str]) -> str:
        words, address = found["words"].strip(), found["address"].strip("<>")
        if _SCHEME.match(address):
            if not found["embed"]:
                return found[0]
            if address.startswith("data:"):
                self.attachments.append(Attachment(type="image", caption=words or None))
                return ""
            file = unquote(address.partition("?")[0].rpartition("/")[2]) or None
            self.attachments.append(
                Attachment(type="image", name=file, url=address, caption=words or None)
            )
            return ""
        page = unquote(address.partition("#")[0])
        file = page.rpartition("/")[2]
        if not file or not (found["embed"] or _SUFFIX.search(file)):
            return words or page
        if _NOTE_SUFFIX.search(file):
            self.links.append(_NOTE_SUFFIX.sub("", page.removeprefix("./")))
            return words or _NOTE_SUFFIX.sub("", file)
        self.attachments.append(
            Attachment(
                type=attachment_type(file),
                name=file,
                caption=words if found["embed"] and words and words != file else None,
            )
        )
        return "" if found["embed"] else words or file
