"""The readable text of HTML: paragraphs as lines, quotations with `> ` before them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

# What is in these is not read by anybody.
_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript", "svg", "object"})
_BLOCKS = frozenset(
    {"p", "div", "tr", "table", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}
    | {"section", "article", "header", "footer", "address", "center", "dl", "dt", "dd", "form"}
    | {"body", "html", "blockquote", "hr"}
)
_APART = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "blockquote"})
_HIDDEN = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "wbr"})
_MAX_DEPTH = 64
_MAX_UNCLOSED_TAGS = 20
_COMMENT_END = re.compile(r"--\s*>")


def text_of_html(html: str) -> str:
    """Return what a reader sees of HTML, however broken it is."""
    reader = _Reader()
    try:
        reader.feed(_readable(html))
        reader.close()
    except (AssertionError, ValueError):
        # The parser gives up on some declarations; what came before was read.
        pass
    return reader.text()


def _readable(html: str) -> str:
    """Return HTML without comments, and without so many beginnings of tags that have no end, which
    the parser would look for over and over.
    """
    kept, at = [], 0
    while (begun := html.find("<!--", at)) >= 0:
        kept.append(html[at:begun])
        ends = _COMMENT_END.search(html, begun + 4)
        if ends is None:
            kept.append(html[begun:].replace("<!--", ""))
            at = len(html)
        else:
            at = ends.end()
    kept.append(html[at:])
    return ">".join(map(_with_one_tag, "".join(kept).split(">")))


def _with_one_tag(piece: str) -> str:
    """Return what stands before a `>`; where there is much that it could close, only the last."""
    if piece.count("<") <= _MAX_UNCLOSED_TAGS:
        return piece
    text, _, tag = piece.rpartition("<")
    return f"{text.replace('<', '&lt;')}<{tag}"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = []
        self._line: list[str] = []
        self._unseen: list[str] = []
        self._quotes = 0
        self._pre = 0
        self._unclosed = 0

    def parse_starttag(self, i: int) -> int:
        # For each beginning without an end the parser looks through all that follows.
        if self._unclosed > _MAX_UNCLOSED_TAGS:
            self.handle_data("<")
            return i + 1
        end = super().parse_starttag(i)
        self._unclosed += end < 0
        return end

    def text(self) -> str:
        self._end_line()
        text = "\n".join(self._lines)
        return re.sub(r"\n(?:(?:> ?)*\n){2,}", "\n\n", text).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            if tag == self._unseen[-1] and tag not in _VOID:
                self._unseen.append(tag)
            return
        style = next((value or "" for name, value in attrs if name == "style"), "")
        if tag in _UNSEEN or (_HIDDEN.search(style) and tag not in _VOID):
            self._unseen.append(tag)
            return
        if tag == "br":
            self._break()
        elif tag in ("td", "th"):
            self._line.append(" ")
        elif tag in _BLOCKS:
            self._end_line(apart=tag in _APART)
        if tag == "li":
            self._line.append("- ")
        elif tag == "blockquote":
            self._quotes = min(self._quotes + 1, _MAX_DEPTH)
        elif tag == "pre":
            self._pre += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            # A head or a title that nobody closed ends where the body begins.
            if tag == self._unseen[-1]:
                self._unseen.pop()
            elif tag in ("head", "body", "html"):
                self._unseen.clear()
            return
        if tag in _BLOCKS:
            self._end_line(apart=tag in _APART)
        if tag == "blockquote":
            self._quotes = max(self._quotes - 1, 0)
        elif tag == "pre":
            self._pre = max(self._pre - 1, 0)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if not self._pre:
            self._line.append(re.sub(r"[ \t\r\n\f]+", " ", data))
            return
        first, *others = data.split("\n")
        self._line.append(first)
        for line in others:
            self._break()
            self._line.append(line)

    def _break(self) -> None:
        self._put("".join(self._line))
        self._line = []

    def _end_line(self, *, apart: bool = False) -> None:
        if (line := "".join(self._line)).strip():
            self._put(line)
        self._line = []
        if apart and self._lines and self._lines[-1].strip("> "):
            self._put("")

    def _put(self, line: str) -> None:
        line = line.rstrip() if self._pre else re.sub(r"  +", " ", line).strip()
        # No-break spaces lay pages out; in words they are spaces.
        self._lines.append("> " * self._quotes + line.replace("\xa0", " "))
