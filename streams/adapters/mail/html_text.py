"""The readable text of HTML: paragraphs as lines, quotations with `> ` before them.

An address of a link follows its words in angle brackets, as in mails in plain text (RFC 3986, C).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote

# Tags whose content is not displayed.
_INVISIBLE_TAGS = frozenset(
    {"script", "style", "head", "title", "template", "noscript", "svg", "object"}
)
_BLOCKS = frozenset(
    {"p", "div", "tr", "table", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}
    | {"section", "article", "header", "footer", "address", "center", "dl", "dt", "dd", "form"}
    | {"body", "html", "blockquote", "hr"}
)
_PARAGRAPH_TAGS = frozenset(
    {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "blockquote"}
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "wbr"})
_LINK_SCHEME = re.compile(r"(?:https?|ftps?|mailto|tel|sms|geo|xmpp|matrix|tg):", re.IGNORECASE)
# "-----Original Message-----": an address behind it would hide that a quotation follows.
_RULE = re.compile(r"-{3}.*-{3}:?")
_BESIDE_ADDRESS = re.compile(r"\A(?:\w+:(?://)?)?(?:www\.)?|/\Z")
_MAX_ADDRESS_LENGTH = 2_000
_MAX_DEPTH = 64
_MAX_UNCLOSED_TAGS = 20
_COMMENT_END = re.compile(r"--\s*>")
#: Letters of scripts that are written without spaces, as ranges of a regular expression.
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff"
_WITHIN_WORD = re.compile(rf"[^\W{UNSPACED}]{{2}}")
_MAX_LINKS = 1_000
_MAX_TRIES = 10


class Link(NamedTuple):
    """A link whose words do not say its address: the words, and the address."""

    words: str
    address: str


class HtmlText(NamedTuple):
    """The displayed text of HTML without addresses of links, and these links in order."""

    text: str
    links: tuple[Link, ...]


def text_of_html(html: str, *, addresses: bool = True) -> str:
    """Return the displayed text of HTML, however broken it is.

    `addresses`: with the addresses of links whose words do not say them.
    """
    return _extract(html, addresses).text()


def text_and_links_of_html(html: str) -> HtmlText:
    """Return the displayed text of HTML, and its links, however broken it is."""
    extractor = _extract(html, addresses=False)
    return HtmlText(extractor.text(), tuple(extractor.links))


def add_addresses(text: str, links: Sequence[Link]) -> str:
    """Return a plain text with the addresses of links after the words of the links.

    `links`: those of the HTML form of the text, in order. An address that the text says is not
    added, nor is that of a link whose words the text lacks after the link before.
    """
    said = "".join(text.split()).casefold()
    missing = [
        (words, address)
        for words, address in links[:_MAX_LINKS]
        if _BESIDE_ADDRESS.sub("", address.casefold()) not in said
    ]
    if not missing:
        return text
    # The lines of a plain text are broken and quoted, so words are compared without blanks.
    places = [at for at, one in enumerate(text) if _is_compared(one)]
    compared = "".join(text[at] for at in places)
    added: set[str] = set()
    pieces: list[str] = []
    at = begun = 0
    for words, address in missing:
        sought = "".join(filter(_is_compared, words))
        found = _find_words(sought, compared, begun, text, places)
        if found is None or address in added:
            continue
        begun = found + len(sought)
        end = places[begun - 1] + 1
        pieces += text[at:end], f" <{address}>"
        added.add(address)
        at = end
    return "".join((*pieces, text[at:]))


def _is_compared(character: str) -> bool:
    return character != ">" and not character.isspace()


def _find_words(
    sought: str, compared: str, begun: int, text: str, places: Sequence[int]
) -> int | None:
    """Return where words begin in the compared characters of a text, or None.

    `places`: those of the characters in the text. Words do not begin or end within a word.
    """
    for _ in range(_MAX_TRIES):
        found = compared.find(sought, begun)
        if found < 0:
            return None
        first, last = places[found], places[found + len(sought) - 1]
        if not _WITHIN_WORD.match(text, max(first - 1, 0), first + 1) and not _WITHIN_WORD.match(
            text, last, last + 2
        ):
            return found
        begun = found + 1
    return None


def _extract(html: str, addresses: bool) -> _TextExtractor:
    extractor = _TextExtractor(addresses)
    try:
        extractor.feed(_sanitise(html))
        extractor.close()
    except (AssertionError, ValueError):
        # The parser gives up on some declarations; the text before them is kept.
        pass
    return extractor


def _address_of(href: str, words: str) -> str:
    """Return the address to show after the words of a link; empty if they say it, or there is none.

    A rule above a quotation has none. Of a mail address, only the address itself is shown.
    """
    address = "".join(href.split()).translate({ord("<"): "%3C", ord(">"): "%3E"})
    if not _LINK_SCHEME.match(address) or len(address) > _MAX_ADDRESS_LENGTH:
        return ""
    if address[:7].casefold() == "mailto:":
        address = unquote(address[7:].partition("?")[0])
    said, named = (
        _BESIDE_ADDRESS.sub("", unquote("".join(one.split())).casefold())
        for one in (words, address)
    )
    if not said.strip(">") or said == named or _RULE.fullmatch(said):
        return ""
    return address if address.isprintable() else ""


def _sanitise(html: str) -> str:
    """Return HTML without comments, and with most unclosed tags escaped.

    Many unclosed tags would make the parser take quadratic time.
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
    return ">".join(map(_escape_unclosed_tags, "".join(kept).split(">")))


def _escape_unclosed_tags(piece: str) -> str:
    """Return the text before a `>`; if many tags begin in it, escape all but the last."""
    if piece.count("<") <= _MAX_UNCLOSED_TAGS:
        return piece
    text, _, tag = piece.rpartition("<")
    return f"{text.replace('<', '&lt;')}<{tag}"


class _TextExtractor(HTMLParser):
    def __init__(self, addresses: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._shows_addresses = addresses
        self.links: list[Link] = []
        # The address of the link that is open, the line in which it began, and its words.
        self._href = ""
        self._link_line = 0
        self._words: list[str] = []
        self._lines: list[str] = []
        self._line: list[str] = []
        self._invisible: list[str] = []
        self._quotes = 0
        self._pre = 0
        self._unclosed = 0

    def parse_starttag(self, i: int) -> int:
        # For each unclosed tag, the parser scans everything that follows.
        if self._unclosed > _MAX_UNCLOSED_TAGS:
            self.handle_data("<")
            return i + 1
        end = super().parse_starttag(i)
        self._unclosed += end < 0
        return end

    def text(self) -> str:
        self._end_link()
        self._end_line()
        text = "\n".join(self._lines)
        return re.sub(r"\n(?:(?:> ?)*\n){2,}", "\n\n", text).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._invisible:
            if tag == self._invisible[-1] and tag not in _VOID:
                self._invisible.append(tag)
            return
        style = next((value or "" for name, value in attrs if name == "style"), "")
        if tag in _INVISIBLE_TAGS or (_HIDDEN_STYLE.search(style) and tag not in _VOID):
            self._invisible.append(tag)
            return
        if tag == "br":
            self._break()
        elif tag in ("td", "th"):
            self._line.append(" ")
        elif tag in _BLOCKS:
            self._end_line(blank_line=tag in _PARAGRAPH_TAGS)
        if tag == "a":
            self._end_link()
            self._href = next((value or "" for name, value in attrs if name == "href"), "")
            self._link_line = len(self._lines)
        elif tag == "li":
            self._line.append("- ")
        elif tag == "blockquote":
            self._quotes = min(self._quotes + 1, _MAX_DEPTH)
        elif tag == "pre":
            self._pre += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._invisible:
            # An unclosed head or title ends where the body begins.
            if tag == self._invisible[-1]:
                self._invisible.pop()
            elif tag in ("head", "body", "html"):
                self._invisible.clear()
            return
        if tag == "a":
            self._end_link()
        elif tag in _BLOCKS:
            self._end_line(blank_line=tag in _PARAGRAPH_TAGS)
        if tag == "blockquote":
            self._quotes = max(self._quotes - 1, 0)
        elif tag == "pre":
            self._pre = max(self._pre - 1, 0)

    def handle_data(self, data: str) -> None:
        if self._invisible:
            return
        if self._href:
            self._words.append(data)
        if not self._pre:
            self._line.append(re.sub(r"[ \t\r\n\f]+", " ", data))
            return
        first, *others = data.split("\n")
        self._line.append(first)
        for line in others:
            self._break()
            self._line.append(line)

    def _end_link(self) -> None:
        """Append the address of the open link to its words."""
        href, words = self._href, "".join(self._words)
        self._href, self._words = "", []
        address = _address_of(href, words) if href else ""
        if not address:
            return
        self.links.append(Link(words, address))
        if not self._shows_addresses:
            return
        space = ""
        while self._line and not self._line[-1].strip():
            space = self._line.pop() or space
        if self._line:
            last = self._line.pop()
            space = " " if last != last.rstrip() else space
            self._line += [last.rstrip(), f" <{address}>", space]
            return
        # The words ended in a line of their own.
        at = len(self._lines) - 1
        while at >= self._link_line and not self._lines[at].strip("> "):
            at -= 1
        if at >= self._link_line:
            self._lines[at] += f" <{address}>"

    def _break(self) -> None:
        self._append_line("".join(self._line))
        self._line = []

    def _end_line(self, *, blank_line: bool = False) -> None:
        if (line := "".join(self._line)).strip():
            self._append_line(line)
        self._line = []
        if blank_line and self._lines and self._lines[-1].strip("> "):
            self._append_line("")

    def _append_line(self, line: str) -> None:
        line = line.rstrip() if self._pre else re.sub(r"  +", " ", line).strip()
        # No-break spaces only serve the layout, so they become ordinary spaces.
        self._lines.append("> " * self._quotes + line.replace("\xa0", " "))
