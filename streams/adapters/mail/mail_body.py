"""Split a mail's text into the sender's own text, quotations, forwards and signatures.

The phrases that introduce quotations and signatures in many languages come from mail-parser-reply.
They are matched only against short pieces, so that no text can make the matching slow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mailparser_reply.constants import MAIL_LANGUAGES


class MailBody(NamedTuple):
    """The text of a mail: the sender's own text, and the text of others.

    `forwarded`: (author or None, text).
    """

    own_text: str
    quoted: str = ""
    signature: str = ""
    forwarded: tuple[str | None, str] | None = None


# Maximum length of attribution, header and signature lines.
_MAX_LINE_LENGTH = 300
_MAX_ATTRIBUTION_LENGTH = 400
_MAX_SIGNATURE_LINES = 12
_MAX_SIGNATURE_LENGTH = 1_000
_MIN_PHRASE_LENGTH = 5
_MAX_HEADER_LINES = 20

_COLONS = (":", "\uff1a")
_QUOTE = re.compile(r"\s?\|?>")
_FROM_LABELS = (
    "From|Von|De|Da|Van|Od|Från|Fra|От|Lähettäjä|Kimden|Feladó|差出人|发件人|寄件者|"
    r"보낸\s?사람|Από|De la|Від|من|מאת"
)
_LABELS = (
    f"{_FROM_LABELS}|Sent|To|Subject|Date|Cc|Bcc|Reply-To|Organization|Importance|Attachments|"
    "Gesendet|An|Betreff|Datum|Kopie|Envoyé|Envoye|À|A|Objet|Enviado|Enviada em|Para|Asunto|"
    "Assunto|Fecha|Data|Inviato|Oggetto|Verzonden|Aan|Onderwerp|Wysłano|Do|Temat|DW|Skickat|Till|"
    "Ämne|Kopia|Sendt|Til|Emne|Dato|Отправлено|Кому|Тема|Дата|Копия|送信日時|宛先|件名|日時|"
    "发送时间|收件人|主题|抄送|日期|Odesláno|Komu|Předmět|보낸\\s?날짜|받는\\s?사람|제목|참조|"
    "Enviado el|Enviada|Data de envio|Date d'envoi|Küldve|Címzett|Tárgy|Trimis|Către|Subiect|De la|"
    "Від|Надіслано|Στάλθηκε|Προς|Θέμα|Ημερομηνία|من|إلى|الموضوع|מאת|נשלח|אל|נושא|"
    "Lähetetty|Vastaanottaja|Aihe|Gönderildi|Kime|Konu|Tarih|Resent-From|Sender|"
    "Sujet|Pour|Message du|Copie à|Répondre à|Enviado a|Copia|Rispondi a|Antwort an"
)
# "Envoyé le", "Gesendet am": some programs write a preposition before the day of sending.
_ON = "(?: (?:le|el|em|il|am|op|den|dne))?"
_FROM_LINE = re.compile(rf"[*_\s]*(?:{_FROM_LABELS})[*_\s]*[:\uff1a][*_\s]*(.*)", re.IGNORECASE)
_HEADER_LINE = re.compile(rf"[*_\s]*(?:{_LABELS}){_ON}[*_\s]*[:\uff1a]", re.IGNORECASE)
# A line that may be an unknown header among known ones. Its label is one that mail programs show,
# not a raw name such as "Message-ID".
_LABELLED_LINE = re.compile(r"[*_\s]*[^\W\d_][\w'\u2019.() ]{1,24}[*_\s]*[:\uff1a]")
_FORWARD = re.compile(
    r"forward|fwd|weitergeleit|transf[ée]r|r[ée]exp[ée]di|reenvi|rinviato|inoltrat|doorgest|"
    r"encaminhad|przekaz|vidarebefordra|videresen|пересла|пересыл|转发|轉寄|転送|전달|přeposl|"
    r"edelleen|iletilen|tov[áa]bb",
    re.IGNORECASE,
)
_FORWARDING_SUBJECT = re.compile(
    r"\s*(?:\[[^\]]*\]\s*)?(?:fwd?|wg|tr|rv|i|vs|vb|pd|enc|doorst|转发|轉寄)\s*(?:\[\d+\])?\s*[:\uff1a]",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*[-_=*]{2,}[^-_=*].{2,60}?[-_=*]{2,}:?\s*$")
_BARE_RULE = re.compile(r"\s*[-_=]{8,}\s*$")
# Between dashes, above a quotation: "---- Message d'origine ----".
_DASHED_RULE = re.compile(r"\s*-{3,}[^-].{2,60}?-{3,}:?\s*$")
# La Poste introduces a quoted mail with nothing but its date.
_DATED_RULE = re.compile(r"[*_\s]*Message du\s*[:\uff1a]?\s*\d", re.IGNORECASE)
_WROTE_VERBS = (
    r"wrote|writes|said|schrieb|écrit|escribió|escreveu|ha scritto|schreef|napisał.*|skrev|"
    r"kirjoitti|napsal.*|написал.*|пишет|写道|寫道|のメール|작성|yazd\u0131|írta"
)
_WROTE = re.compile(
    rf"(?:{_WROTE_VERBS})\s*(?:<[^>]*>)?\s*[:\uff1a]$",
    re.IGNORECASE,
)
# Zoho's attribution is between dashes and has no colon: "---- On … wrote ----".
_DASHED_START = re.compile(r"\s*(?:-{3,}|[\u2013\u2014]+)\s*[^\W\d_].*\d")
_DASHED_END = re.compile(
    rf"(?:\b(?:{_WROTE_VERBS})|>)[*_\s]*(?:-{{2,}}|[\u2013\u2014]+)\s*$", re.IGNORECASE
)
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}")
_MAX_DASHED_LINES = 3
_ATTRIBUTIONS = tuple(
    re.compile(phrases["wrote_header"], re.MULTILINE | re.IGNORECASE)
    for phrases in MAIL_LANGUAGES.values()
    if "wrote_header" in phrases
)
_LIST_FOOTER = re.compile(
    r"(?:_{30,}|-{30,}|={30,})\s*$"
    r"|You received this message because you are subscribed to the Google Groups?\b"
    r"|To unsubscribe(?: from this (?:list|group|topic)|,? (?:send|e-?mail|visit|reply|click))"
    r"|This (?:message|e-?mail) was sent to .{3,80}(?:unsubscribe|preferences)",
    re.IGNORECASE,
)
_LIST_WORDS = re.compile(
    r"mailing list|mailman|unsubscribe|listinfo|list archives?|\bgroups\.google|subscri", re.I
)


def _phrases(key: str) -> str:
    found: list[str] = []
    for language in MAIL_LANGUAGES.values():
        phrases = language.get(key, [])
        found += phrases if isinstance(phrases, list) else phrases.split("|")
    return "|".join(
        phrase.rstrip(",")
        for phrase in found
        if len(phrase) >= _MIN_PHRASE_LENGTH and not phrase.startswith("/")
    )


_SENT_FROM = re.compile(
    rf"[\s*_<(\[]*(?:{_phrases('sent_from')}|Sent (?:with|via|using) \S|"
    r"Von meinem .{2,30} gesendet|Sent from (?:Mail|Outlook|Yahoo|Proton|Samsung)\b|"
    r"Provenance\s?:\s?Courrier pour|Envoyé à partir d|Enviado desde|Enviado do (?:meu|Correio)|"
    r"Verzonden vanuit|Skickades från|Wysłane z|Lähetetty Windowsin|Получено из|Отправлено из|"
    r"Odesláno z|Inviato da)",
    re.IGNORECASE,
)
_SIGN_OFF = re.compile(
    rf"\s*(?:{_phrases('signatures')}|Best|Cheers|Sincerely|Yours|Many thanks|Thanks again|"
    r"Warm(?:est)? regards|\u0421 уважением)"
    r"(?-i:[\s,.!–-]*(?:[^\W\d_a-zà-ÿ][\w.'-]*[\s,.]*){0,4})$",
    re.IGNORECASE,
)
_DISCLAIMER = re.compile(
    rf"\s*[*_]*(?:{_phrases('disclaimers')}|This (?:e-?mail|message|communication)"
    r"(?: \(?(?:and|including) any .{3,40}\)?)? (?:is|may|contains?)\b.{0,80}"
    r"(?:confidential|privileged|intended)|"
    r"The information (?:contained )?in this (?:e-?mail|message|communication))",
    re.IGNORECASE,
)
_CONFIDENTIAL = re.compile(
    r"confidential|privileged|recipient|vertraulich|Empfänger|confiden|destinat|virus|liab", re.I
)
_DASHES = re.compile(r"(?:-- ?|__|—)$")


def split_body(text: str, subject: str = "") -> MailBody:
    """Split a mail's text. `subject` may show that the mail is a forward."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    lines, footer = _without_footer(lines)
    start = _find_included_mail(lines)
    forwarded, quoted = None, []
    if start is not None:
        at, after, author, marker = start
        rest = "\n".join(_unquote(lines[after:])).strip()
        if _FORWARD.search(marker) or (
            _FORWARDING_SUBJECT.match(subject) and not _WROTE.search(marker)
        ):
            forwarded = (author, rest)
        else:
            quoted = [rest]
        lines = lines[:at]
    own, cited, signatures = _split_quotes(lines)
    if footer:
        signatures.append(footer)
    return MailBody(
        own,
        "\n\n".join(part for part in (*cited, *quoted) if part),
        "\n\n".join(signatures),
        forwarded,
    )


def _without_footer(lines: list[str]) -> tuple[list[str], str]:
    """Split off the footer of a mailing list."""
    for at in range(max(0, len(lines) - 2 * _MAX_SIGNATURE_LINES), len(lines)):
        if _LIST_FOOTER.match(lines[at]) and not _HEADER_LINE.match(
            "".join(lines[at + 1 : at + 2])
        ):
            below = "\n".join(lines[at:])
            if _LIST_WORDS.search(below):
                while at and (not lines[at - 1] or _DASHES.match(lines[at - 1])):
                    at -= 1
                return lines[:at], below.strip()
    return lines, ""


def _find_included_mail(lines: list[str]) -> tuple[int, int, str | None, str] | None:
    """Return (start, start of its text, author, introduction) of an included mail, or None.

    An included mail has no quote marks. It always comes last, and extends to the end of the text.
    """
    quoted = [at for at, line in enumerate(lines) if _QUOTE.match(line)]
    last_quoted = quoted[-1] if quoted else -1
    for at, line in enumerate(lines):
        if len(line) > _MAX_LINE_LENGTH:
            continue
        if _QUOTE.match(line):
            if at > 0 and not _QUOTE.match(lines[at - 1]) and at <= last_quoted:
                header = _quoted_header(lines, at, last_quoted)
                if header is not None:
                    start = _first_marker(lines, at)
                    return start, header[0], header[1], "\n".join(lines[start:at])
            continue
        if (ends := _dashed_attribution(lines, at)) is not None:
            below = next((one for one in lines[ends:] if one), "")
            if below and not _QUOTE.match(below):
                marker = " ".join(lines[at:ends])
                return at, ends, _author_of(marker), marker
            continue
        if _FROM_LINE.match(line) or _HEADER_LINE.match(line):
            header = _header_block(lines, at, min_headers=3)
            if header is not None:
                start = _first_marker(lines, at)
                return start, header[0], header[1], "\n".join(lines[start:at])
        elif _is_marker(line):
            next_line = next((n for n in range(at + 1, min(at + 4, len(lines))) if lines[n]), None)
            if next_line is None or _QUOTE.match(lines[next_line]):
                continue
            header = _header_block(lines, next_line, min_headers=1 if _RULE.match(line) else 2)
            if header is not None:
                return at, header[0], header[1], line
        if at <= last_quoted or not line.endswith(_COLONS):
            continue
        begun_at = _attribution(lines, at) if any(lines[at + 1 : at + 6]) else None
        if begun_at is not None:
            marker = " ".join(lines[begun_at : at + 1])
            return begun_at, at + 1, _author_of(marker), marker
    return None


def _dashed_attribution(lines: list[str], at: int) -> int | None:
    """Return the end of the attribution between dashes that starts at line `at`, or None."""
    if not _DASHED_START.match(lines[at]):
        return None
    for ends in range(at + 1, min(at + 1 + _MAX_DASHED_LINES, len(lines) + 1)):
        line = lines[ends - 1]
        if not line or len(line) > _MAX_LINE_LENGTH:
            return None
        if _DASHED_END.search(line):
            return ends if _CLOCK.search(" ".join(lines[at:ends])) else None
    return None


def _quoted_header(lines: list[str], at: int, last: int) -> tuple[int, str | None] | None:
    """Return the end of a quoted block of headers, and its author; None if there is no block.

    La Poste writes such blocks: only the headers are quoted, and the text below them is not.
    """
    if last - at > _MAX_HEADER_LINES or not any(lines[last + 1 :]):
        return None
    block = _unquote(lines[at : last + 1])
    start = next((n for n, line in enumerate(block) if line and not _DATED_RULE.match(line)), 0)
    header = _header_block(block, start, min_headers=3)
    if header is None or any(block[header[0] :]):
        return None
    return last + 1, header[1]


def _first_marker(lines: list[str], at: int) -> int:
    """Return the first of the lines that announce the block of headers at line `at`."""
    while at and (not lines[at - 1] or _is_marker(lines[at - 1])):
        at -= 1
    return at


def _is_marker(line: str) -> bool:
    return len(line) <= _MAX_LINE_LENGTH and bool(
        _RULE.match(line)
        or _DATED_RULE.match(line)
        or _BARE_RULE.match(line)
        or (line.endswith(":") and _FORWARD.search(line) and len(line) < 80)
    )


def _header_block(lines: list[str], at: int, min_headers: int) -> tuple[int, str | None] | None:
    """Return the end of a block of header lines, and its author; None if there is no block."""
    author, count, blank = None, 0, 0
    number = at
    while number < len(lines) and number < at + _MAX_HEADER_LINES:
        line = lines[number]
        if len(line) > 20 * _MAX_LINE_LENGTH:
            break
        if from_line := _FROM_LINE.match(line):
            author = author or from_line.group(1).strip(" *_") or None
            count, blank = count + 1, 0
        elif _HEADER_LINE.match(line):
            count, blank = count + 1, 0
        elif not line:
            # Some programs put blank lines between headers.
            blank += 1
            if blank > 1 or not _HEADER_LINE.match("".join(lines[number + 1 : number + 2])):
                break
        elif (
            not line.startswith((" ", "\t"))
            and not lines[number - 1].endswith((",", ";"))
            and not (count and _LABELLED_LINE.match(line) and _precedes_header(lines, number))
        ):
            break
        number += 1
    if count < min_headers or (author is None and min_headers > 1):
        return None
    return number, author


def _precedes_header(lines: list[str], at: int) -> bool:
    """Return whether the line after line `at` is a known header."""
    return bool(_HEADER_LINE.match("".join(lines[at + 1 : at + 2])))


def _attribution(lines: list[str], at: int) -> int | None:
    """Return the first line of the attribution that ends at line `at`, or None."""
    for start in range(at, max(at - 4, -1), -1):
        line = lines[start]
        if len(line) > _MAX_LINE_LENGTH or _QUOTE.match(line) or not line:
            return None
        piece = "\n".join(lines[start : at + 1])
        if len(piece) > _MAX_ATTRIBUTION_LENGTH:
            return None
        if any(pattern.match(piece) for pattern in _ATTRIBUTIONS):
            return start
        if _WROTE.search(piece) and ("@" in piece or re.search(r"\d", piece)):
            while (
                start
                and lines[start - 1]
                and at - start < 3
                and _may_begin_attribution(lines[start - 1])
            ):
                start -= 1
            return start
    return None


def _may_begin_attribution(line: str) -> bool:
    """Return whether a line may begin an attribution that spans several lines."""
    return len(line) < _MAX_LINE_LENGTH and not _QUOTE.match(line) and bool(re.search(r"\d", line))


def _author_of(marker: str) -> str | None:
    name = re.search(r'([^\s,;"<>][^,;"<>\n]*)"?\s*<[^<>\s]+@[^<>\s]+>', marker)
    address = re.search(r"[^\s<>()\[\]:;,\"]+@[^\s<>()\[\]:;,\"]+", marker)
    return name.group(1).strip() if name else address.group() if address else None


def _split_quotes(lines: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the sender's own text, the quotations in it, and the signatures."""
    own_texts: list[str] = []
    cited: list[str] = []
    signatures: list[str] = []
    segment: list[str] = []
    at = 0

    def flush() -> None:
        words, signature = _split_signature(segment, bool(own_texts))
        if words:
            own_texts.append(words)
        if signature:
            signatures.append(signature)
        segment.clear()

    while at < len(lines):
        if not _QUOTE.match(lines[at]):
            segment.append(lines[at])
            at += 1
            continue
        ends = at
        while ends < len(lines) and (
            _QUOTE.match(lines[ends])
            or (not lines[ends] and ends + 1 < len(lines) and _QUOTE.match(lines[ends + 1]))
        ):
            ends += 1
        _drop_attribution(segment, next(filter(None, _unquote(lines[at:ends])), ""))
        flush()
        cited.append("\n".join(_unquote(lines[at:ends])).strip())
        at = ends
    flush()
    return "\n\n".join(own_texts), cited, signatures


def _drop_attribution(segment: list[str], below: str) -> None:
    """Remove a quotation's attribution from the text before it.

    `below`: the first line of the quotation.
    """
    last = next((n for n in range(len(segment) - 1, -1, -1) if segment[n]), None)
    if last is None:
        return
    for dashed in range(last, max(last - _MAX_DASHED_LINES, -1), -1):
        if _dashed_attribution(segment, dashed) == last + 1:
            del segment[dashed:]
            return
    if _DASHED_RULE.match(segment[last]) and _HEADER_LINE.match(below):
        del segment[last:]
        return
    if not segment[last].endswith(_COLONS):
        return
    start = _attribution(segment, last)
    if start is None:
        line = segment[last]
        above = [one for one in segment[max(0, last - 2) : last] if one]
        dated = re.search(r"\d{1,2}[.:/]\d{2}", " ".join((*above, line)))
        if len(line) > _MAX_LINE_LENGTH or not (("@" in line and dated) or _WROTE.search(line)):
            return
        start = last
        if "<" not in line and above and "<" in above[-1] and ">" not in above[-1]:
            start = last - 1
    elif start == last and last and "<" not in segment[last] and segment[last - 1].endswith("<"):
        start = last - 1
    del segment[start:]


def _unquote(lines: list[str]) -> list[str]:
    """Return lines without the first level of quote marks."""
    return [re.sub(r"^\s?\|?> ?", "", line) for line in lines]


def _split_signature(lines: list[str], follows_text: bool) -> tuple[str, str]:
    """Split off the signature below a text. `follows_text`: other text precedes this text."""
    ends = len(lines)
    signatures: list[str] = []
    for at in range(max(0, ends - 4 * _MAX_SIGNATURE_LINES), ends):
        line = lines[at]
        if len(line) > _MAX_LINE_LENGTH and not _DISCLAIMER.match(line):
            continue
        below = lines[at:]
        if not _may_sign_at(lines, at, follows_text):
            continue
        small = (
            sum(1 for one in below if one) <= _MAX_SIGNATURE_LINES
            and sum(map(len, below)) <= _MAX_SIGNATURE_LENGTH
        )
        if (
            _DASHES.match(line)
            or (small and (_SENT_FROM.match(line) or _SIGN_OFF.match(line)))
            or (_DISCLAIMER.match(line) and _CONFIDENTIAL.search("\n".join(below)))
        ):
            ends = at
            signatures = below
            break
    words = "\n".join(lines[:ends]).strip("\n ")
    return re.sub(r"\n{3,}", "\n\n", words).strip(), "\n".join(signatures).strip()


def _may_sign_at(lines: list[str], at: int, follows_text: bool) -> bool:
    """Return whether a signature may begin at a line, that is, after some text."""
    return (
        follows_text or any(line.strip() for line in lines[:at]) or bool(_DASHES.match(lines[at]))
    )
