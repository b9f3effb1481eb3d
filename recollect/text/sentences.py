"""The boundaries of the speaker's own sentences, without quoted, signed or pasted text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.text.addresses import EMAIL, URL
from recollect.text.lexicon import (
    ABBREVIATIONS,
    ARTICLES,
    ENDING_ABBREVIATIONS,
    FUNCTION_WORDS,
    HONORIFICS,
    MONTHS,
    STARTERS,
    word_set,
)
from recollect.text.recent_texts import cached_for_short

Span = tuple[int, int]

#: Longer text without a full stop is cut at a word boundary.
LONGEST = 1000

# One run of terminators, then closing quotes and brackets. The look-behind lets a match begin only
# at the start of a run, and the possessive quantifiers never give back: linear on any input.
_TERMINATOR = re.compile(
    r"(?=[.!?…。\uff01\uff1f\uff61])(?:(?<![.!?…])[.!?…]++[\"')\]»”’*_]*+(?=\s|\Z)|"
    r"(?<![。\uff01\uff1f\uff61])[。\uff01\uff1f\uff61]++[」』”’\uff09]*+)"
)
# Emoji, dashes and other marks before the first word are not part of a sentence.
_LEAD = re.compile(r"[^\w\"'“\u2018(\[<@#$€£¥+*¿¡.&/~]*+")
_VISIBLE = re.compile(r"\S")
_BULLET = re.compile(r"[ \t]*+(?:[-*•‣◦–·]|\d{1,3}[.)]|[a-z][)])[ \t]++")
_ATTRIBUTION = re.compile(
    r"\W{0,3}(?:On|Am|Le|El|Il)\b(?=[^\n]{0,200}?\d)[^\n]{4,250}?"
    r"(?:wrote|schrieb[^\n]{0,80}|a écrit|escribió|ha scritto)\s?:\s*\Z"
)
_FORWARD = re.compile(
    r"\W*+(?:original message|forwarded message|begin forwarded message|ursprüngliche nachricht)"
    r"\W*+\Z",
    re.IGNORECASE,
)
_HEADER = re.compile(r"\*?(?:From|Sent|To|Date|Subject|Cc|Von|Gesendet|An|Betreff):\*?(?:\s|\Z)")
_DEVICE = re.compile(r"(?:Sent from|Sent via|Get Outlook for|Von meinem)\b[^\n]{0,60}\Z")
_CLOSING = re.compile(
    r"(?:with\s+)?(?:(?:my|our|all)\s+)?(?:(?:kind|kindest|best|warm|warmest|many|good)\s+)?"
    r"(?:regards|wishes|cheers|thanks|thank you|sincerely|sincerely yours|yours|yours sincerely|"
    r"yours truly|yours faithfully|respectfully|warmly|best|all the best|love|xoxo|take care|"
    r"viele grüße|liebe grüße|mit freundlichen grüßen|cordialement|bien cordialement|saludos|"
    r"un saludo)(?:\s+again|\s+so much|\s+in advance)?"
    r"\s*[,.!]*\Z",
    re.IGNORECASE,
)
#: Lines of a signature: "tel. 514-555-0108", "0117 | info@x.org". These are the only lower-case
#: words in a name.
_PHONE = re.compile(r"\+?\(?\d[\d ().\-/]{4,20}\d")
_CONTACT_WORDS = word_set(
    "tel telephone phone mobile cell fax mob email e-mail mail web website office direct t m p"
)
_SMALL = word_set("of the and for de des du la le van von der den da di do dos del y & et und")
_LINE_WORD = re.compile(r"[^\W\d_][\w'’&.\-]*")
#: A line break inside a phrase: after a word that ends no sentence, or inside a date.
_OPEN_ENDS = "|".join(sorted(ARTICLES | word_set("my your our their of and or than")))
_BROKEN_PHRASE = re.compile(
    rf"(?<!\w)(?:{_OPEN_ENDS}|(?P<day>(?<=\S )\d{{1,2}}(?:st|nd|rd|th)?))"
    r"[ \t]?(?:\r?\n)(?=[ \t]?(?P<next>[^\W\d_]+))",
    re.IGNORECASE,
)
_SIGNATURE_LINES = 6
_POSTSCRIPT = re.compile(r"P\.?\s?S\b")


@cached_for_short
def sentences(text: str) -> Sequence[Span]:
    """Return the spans of the speaker's own sentences, in order and without overlap."""
    spans: list[Span] = []
    for start, end in _paragraphs(text):
        _split(text, start, end, spans)
    return spans


def without_broken_phrases(text: str) -> str:
    """Return a text of the same length with a space for each line break inside a phrase.

    Such breaks are those in "the⏎station" and "14⏎June".
    """

    def joined(match: re.Match[str]) -> str:
        if match["day"] and match["next"].lower() not in MONTHS:
            return match[0]
        return match[0].replace("\r", " ").replace("\n", " ")

    return _BROKEN_PHRASE.sub(joined, text) if "\n" in text else text


def _paragraphs(text: str) -> list[Span]:
    """The stretches inside which a line break has no meaning."""
    if "\n" not in text and "\r" not in text:
        return [] if text.lstrip()[:1] == ">" else [(0, len(text))]
    paragraphs: list[Span] = []
    for block in _blocks(text, _speech_lines(text)):
        width = max(end - start for start, end in block)
        wrapped = len(block) > 1 and 45 <= width <= 100
        line_start = -1
        for start, end in block:
            bullet = _BULLET.match(text, start, end)
            if line_start >= 0 and wrapped and not bullet:
                # The break is soft if the first word of this line did not fit on the previous one.
                word = text.find(" ", start, end)
                first_word = (end if word < 0 else word) - start
                full = paragraphs[-1][1] - line_start + 1 + first_word > width
                if full and (len(block) > 2 or text[start].islower()):
                    paragraphs[-1] = (paragraphs[-1][0], end)
                    line_start = start
                    continue
            paragraphs.append((bullet.end() if bullet else start, end))
            line_start = start
    return paragraphs


def _blocks(text: str, lines: list[Span]) -> list[list[Span]]:
    """The lines, grouped into blocks without a separator."""
    blocks: list[list[Span]] = []
    previous_end = -1
    for start, end in lines:
        if blocks and text.count("\n", previous_end, start) == 1:
            blocks[-1].append((start, end))
        else:
            blocks.append([(start, end)])
        previous_end = end
    return blocks


def _lines(text: str) -> list[Span]:
    """All lines; a carriage return is part of the line break."""
    lines: list[Span] = []
    start = 0
    for line in text.replace("\r\n", " \n").replace("\r", "\n").split("\n"):
        lines.append((start, start + len(line)))
        start += len(line) + 1
    return lines


def _speech_lines(text: str) -> list[Span]:
    """The lines that the speaker wrote: without quotations, code, signatures and mail headers."""
    lines = _lines(text)
    kept: list[Span] = []
    in_fence = False
    signed = False
    index = -1
    while index + 1 < len(lines):
        index += 1
        start, end = lines[index]
        line = text[start:end].strip()
        if line.startswith(("```", "~~~")):
            in_fence = not in_fence
        elif in_fence or not line or line[0] == ">" or (signed and not _POSTSCRIPT.match(line)):
            continue
        elif (
            line == "--"
            or line.startswith("____________________")
            or _ends_the_speech(text, lines, index, line)
            or _FORWARD.match(line[:80])
        ):
            break
        elif (quoted := _attribution(text, lines, index, line)) is not None:
            if not quoted:
                break
            index = quoted - 1
        elif _DEVICE.match(line):
            continue
        elif kept and len(line) < 40 and _CLOSING.match(line) and _is_signature(text, lines, index):
            signed = True
        else:
            signed = False
            while text[end - 1].isspace():
                end -= 1
            kept.append((start, end))
    return _without_signature(text, kept)


def _without_signature(text: str, kept: list[Span]) -> list[Span]:
    """The lines without a final, separate block of a name and contact details."""
    last = len(kept)
    while last and _POSTSCRIPT.match(text, kept[last - 1][0]):
        last -= 1
    first = last
    while first and last - first <= _SIGNATURE_LINES:
        start, end = kept[first - 1]
        if not _is_name_line(text[start:end].strip()) and not _is_contact_line(text[start:end]):
            break
        first -= 1
    block = [text[start:end].strip() for start, end in kept[first:last]]
    contact = any(_is_contact_line(line) for line in block)
    # A signature begins with a name and is separated from the text; after a list there is none.
    while block:
        apart = first > 0 and "\n" in text[kept[first - 1][1] : kept[first][0]].replace("\n", "", 1)
        last_line = text[kept[first - 1][0] : kept[first - 1][1]].rstrip() if first else ""
        if (
            last_line
            and last_line[-1] not in ":,;"
            and last_line.split()[-1].lower() not in FUNCTION_WORDS
        ):
            named = _is_name_line(block[0]) and (
                (apart and (contact or len(block) <= 3)) or (contact and last_line[-1] in ".!?")
            )
            if named or (apart and contact and len(block) <= 2):
                return kept[:first] + kept[last:]
        first += 1
        block.pop(0)
    return kept


def _is_name_line(line: str) -> bool:
    """Whether a line is just a name: "Dr. Ilse Brandt; Larch Street Clinic", "People team"."""
    if len(line) > 60 or line[-1] in "!?:;…" or any(sign.isdigit() for sign in line):
        return False
    words = _LINE_WORD.findall(line)
    if not 1 <= len(words) <= 7 or (line[-1] == "." and len(words[-1].rstrip(".")) > 2):
        return False
    small = [word.lower() for word in words if not word[0].isupper()]
    if words[0][0].islower() or any(word in STARTERS for word in small if word not in _SMALL):
        return False
    lowers = [word.lower().rstrip(".") for word in words]
    if any(word in FUNCTION_WORDS and word not in _SMALL for word in lowers):
        return False
    if len(words) == 1:
        return lowers[0] not in STARTERS
    if all(word in STARTERS for word in lowers if word not in HONORIFICS):
        return False
    return sum(1 for word in small if word not in _SMALL) <= ("," in line or "|" in line)


def _is_contact_line(line: str) -> bool:
    """Whether a line is an address or a telephone number with hardly a word around it."""
    if len(line) > 120:
        return False
    rest, addresses = EMAIL.subn(" ", line)
    rest, urls = URL.subn(" ", rest)
    rest, phones = _PHONE.subn(" ", rest)
    if not addresses + urls + phones or any(sign.isdigit() for sign in rest):
        return False
    words = [word.rstrip(".") for word in _LINE_WORD.findall(rest)]
    small = [word for word in words if word[0].islower() and word not in _SMALL | _CONTACT_WORDS]
    others = [word.lower() for word in words]
    return (
        len(words) <= 8
        and len(small) <= ("," in rest or "|" in rest)
        and all(word not in FUNCTION_WORDS or word in _SMALL for word in others)
    )


def _ends_the_speech(text: str, lines: list[Span], index: int, line: str) -> bool:
    """Whether a block of mail headers begins here: everything below it is somebody else's."""
    if not _HEADER.match(line):
        return False
    following = (text[start:end].strip() for start, end in lines[index + 1 : index + 6])
    return sum(1 for other in following if _HEADER.match(other)) >= 2


def _attribution(text: str, lines: list[Span], index: int, line: str) -> int | None:
    """The index at which a quotation begins, after "On ... wrote:" at `index`.

    None: there is no attribution. 0: no line below is marked as quoted, so all of them are quoted.
    """
    if line[-1] == ":" and "@" in line and len(line) < 200:
        # In any language: a line with an address that ends in a colon, then quoted lines.
        below = _next_line(text, lines, index)
        if below and text[lines[below][0]] == ">":
            return below
    if line[:2] not in ("On", "Am", "Le", "El", "Il", "*O", '"O'):
        return None
    joined = line
    for last in range(index, min(index + 3, len(lines))):
        if last > index:
            joined += " " + text[lines[last][0] : lines[last][1]].strip()
        if len(joined) > 400:
            return None
        if _ATTRIBUTION.match(joined):
            below = _next_line(text, lines, last)
            return below if below and text[lines[below][0]] == ">" else 0
    return None


def _next_line(text: str, lines: list[Span], index: int) -> int:
    """The index of the next non-empty line, or 0."""
    for below in range(index + 1, len(lines)):
        if text[lines[below][0] : lines[below][1]].strip():
            return below
    return 0


def _is_signature(text: str, lines: list[Span], index: int) -> bool:
    """Whether at most a few short lines, and no sentence, follow a closing formula."""
    block = [text[start:end].strip() for start, end in lines[index + 1 : index + 10]]
    for position, line in enumerate(block):
        if line[:1] == ">" or line[:2] == "On" or _HEADER.match(line) or _POSTSCRIPT.match(line):
            return position <= 8
        if len(line) > 60 or sum(1 for word in line.split() if word.islower()) > 2:
            return False
    return len(block) < 9


def _split(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Add the sentences of one paragraph."""
    begin = start
    for match in _TERMINATOR.finditer(text, start, end):
        stop = match.end()
        if stop < end and not _ends_sentence(text, begin, match.start(), stop, end):
            continue
        _add(text, begin, stop, spans)
        begin = stop
    if begin < end:
        _add(text, begin, end, spans)


def _ends_sentence(text: str, begin: int, dot: int, stop: int, end: int) -> bool:
    """Whether the terminator at `dot`..`stop` ends the sentence that began at `begin`."""
    if text[dot] in "。\uff01\uff1f\uff61":
        return True
    visible = _VISIBLE.search(text, stop, end)
    if visible is None:
        return True
    upcoming = visible.group()
    run = text[dot:stop]
    if "!" in run or "?" in run:
        # "Really?" he asked: the quotation ends, the sentence does not.
        return not (run[-1] in "\"'”’)" and upcoming.islower())
    if run[:2] == ".." or run[0] == "…":
        return not upcoming.islower()
    words = text[max(begin, dot - 20) : dot].split()
    if not words:
        return True
    word = words[-1].lstrip("([\"'“\u2018").lower()
    if word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    if word.isdecimal() and len(word) <= 3 and not text[begin : dot - len(word)].strip():
        return False
    if word in ENDING_ABBREVIATIONS or word == "i":
        if word in ("no", "nos", "nr", "min", "max"):
            return not upcoming.isdecimal()
        following = text[visible.start() : visible.start() + 20].split()[0]
        return upcoming.isupper() and following.rstrip(".,!?").lower() in STARTERS
    return True


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Add one sentence without surrounding space, in pieces of at most `LONGEST`."""
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = text.rfind(" ", start + 1, start + LONGEST + 1)
        cut = cut if cut > 0 else start + LONGEST
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        spans.append((start, end))
