"""What of a mail's text its sender said: apart from quotations, forwards and signatures.

The phrases of many languages before a quotation, and before a signature, are those of
mail-parser-reply. They are looked for in short pieces, so that no text makes it slow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mailparser_reply.constants import MAIL_LANGUAGES


class Words(NamedTuple):
    """The words of a mail: the sender's own, and what stands there of others.

    `forwarded`: (who said it, or None, the words).
    """

    own: str
    quoted: str = ""
    signature: str = ""
    forwarded: tuple[str | None, str] | None = None


# Lines that are longer are no attribution, header or signature.
_MAX_LINE_LENGTH = 300
_MAX_ATTRIBUTION_LENGTH = 400
_MAX_SIGNATURE_LINES = 12
_MAX_SIGNATURE_LENGTH = 1_000
_SHORTEST_PHRASE = 5

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
    "Lähetetty|Vastaanottaja|Aihe|Gönderildi|Kime|Konu|Tarih|Resent-From|Sender"
)
_FROM_LINE = re.compile(rf"[*_\s]*(?:{_FROM_LABELS})[*_\s]*[:\uff1a][*_\s]*(.*)", re.IGNORECASE)
_HEADER_LINE = re.compile(rf"[*_\s]*(?:{_LABELS})[*_\s]*[:\uff1a]", re.IGNORECASE)
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
_BARE_RULE = re.compile(r"\s*[-_]{8,}\s*$")
_WROTE = re.compile(
    r"(?:wrote|writes|said|schrieb|écrit|escribió|escreveu|ha scritto|schreef|napisał.*|skrev|"
    r"kirjoitti|napsal.*|написал.*|пишет|写道|寫道|のメール|작성|yazd\u0131|írta)\s*(?:<[^>]*>)?\s*[:\uff1a]$",
    re.IGNORECASE,
)
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
        said = language.get(key, [])
        found += said if isinstance(said, list) else said.split("|")
    return "|".join(
        phrase.rstrip(",")
        for phrase in found
        if len(phrase) >= _SHORTEST_PHRASE and not phrase.startswith("/")
    )


_SENT_FROM = re.compile(
    rf"[\s*_<(\[]*(?:{_phrases('sent_from')}|Sent (?:with|via|using) \S|"
    r"Von meinem .{2,30} gesendet)",
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


def words_of(text: str, subject: str = "") -> Words:
    """Take a mail's text apart. `subject` may say that it forwards something."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    lines, footer = _without_footer(lines)
    begun = _other_mail(lines)
    forwarded, quoted = None, []
    if begun is not None:
        at, after, who, marker = begun
        rest = "\n".join(_unquoted(lines[after:])).strip()
        if _FORWARD.search(marker) or (
            _FORWARDING_SUBJECT.match(subject) and not _WROTE.search(marker)
        ):
            forwarded = (who, rest)
        else:
            quoted = [rest]
        lines = lines[:at]
    own, cited, signatures = _own(lines)
    if footer:
        signatures.append(footer)
    return Words(
        own,
        "\n\n".join(part for part in (*cited, *quoted) if part),
        "\n\n".join(signatures),
        forwarded,
    )


def _without_footer(lines: list[str]) -> tuple[list[str], str]:
    """Part what a mailing list wrote below everything."""
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


def _other_mail(lines: list[str]) -> tuple[int, int, str | None, str] | None:
    """Return where another mail begins, where its words do, who sent it, and what announces it.

    It goes to the end: the programs that put it there without marks put it below.
    """
    quoted = [at for at, line in enumerate(lines) if _QUOTE.match(line)]
    last_quoted = quoted[-1] if quoted else -1
    for at, line in enumerate(lines):
        if len(line) > _MAX_LINE_LENGTH or _QUOTE.match(line):
            continue
        if _FROM_LINE.match(line) or _HEADER_LINE.match(line):
            found = _headers(lines, at, at_least=3)
            if found is not None:
                begun = at
                while begun and (not lines[begun - 1] or _is_marker(lines[begun - 1])):
                    begun -= 1
                return begun, found[0], found[1], "\n".join(lines[begun:at])
        elif _is_marker(line):
            follows = next((n for n in range(at + 1, min(at + 4, len(lines))) if lines[n]), None)
            if follows is None or _QUOTE.match(lines[follows]):
                continue
            found = _headers(lines, follows, at_least=1 if _RULE.match(line) else 2)
            if found is not None:
                return at, found[0], found[1], line
        if at <= last_quoted or not line.endswith(_COLONS):
            continue
        begun_at = _attribution(lines, at) if any(lines[at + 1 : at + 6]) else None
        if begun_at is not None:
            marker = " ".join(lines[begun_at : at + 1])
            return begun_at, at + 1, _who_wrote(marker), marker
    return None


def _is_marker(line: str) -> bool:
    return len(line) <= _MAX_LINE_LENGTH and bool(
        _RULE.match(line)
        or _BARE_RULE.match(line)
        or (line.endswith(":") and _FORWARD.search(line) and len(line) < 80)
    )


def _headers(lines: list[str], at: int, at_least: int) -> tuple[int, str | None] | None:
    """Return where a block of header lines ends, and whom it names; None: there is none."""
    who, count, blank = None, 0, 0
    number = at
    while number < len(lines) and number < at + 20:
        line = lines[number]
        if len(line) > 20 * _MAX_LINE_LENGTH:
            break
        if found := _FROM_LINE.match(line):
            who = who or found.group(1).strip(" *_") or None
            count, blank = count + 1, 0
        elif _HEADER_LINE.match(line):
            count, blank = count + 1, 0
        elif not line:
            # Some programs put a blank line between any two.
            blank += 1
            if blank > 1 or not _HEADER_LINE.match("".join(lines[number + 1 : number + 2])):
                break
        elif not line.startswith((" ", "\t")) and not lines[number - 1].endswith((",", ";")):
            break
        number += 1
    if count < at_least or (who is None and at_least > 1):
        return None
    return number, who


def _attribution(lines: list[str], at: int) -> int | None:
    """Return where what announces a quotation begins that ends in a line; None: it does not."""
    for begun in range(at, max(at - 4, -1), -1):
        line = lines[begun]
        if len(line) > _MAX_LINE_LENGTH or _QUOTE.match(line) or not line:
            return None
        piece = "\n".join(lines[begun : at + 1])
        if len(piece) > _MAX_ATTRIBUTION_LENGTH:
            return None
        if any(pattern.match(piece) for pattern in _ATTRIBUTIONS):
            return begun
        if _WROTE.search(piece) and ("@" in piece or re.search(r"\d", piece)):
            while begun and lines[begun - 1] and at - begun < 3 and _is_begun(lines[begun - 1]):
                begun -= 1
            return begun
    return None


def _is_begun(line: str) -> bool:
    """Return whether a line may be the beginning of an attribution over several lines."""
    return len(line) < _MAX_LINE_LENGTH and not _QUOTE.match(line) and bool(re.search(r"\d", line))


def _who_wrote(marker: str) -> str | None:
    name = re.search(r'([^\s,;"<>][^,;"<>\n]*)"?\s*<[^<>\s]+@[^<>\s]+>', marker)
    address = re.search(r"[^\s<>()\[\]:;,\"]+@[^\s<>()\[\]:;,\"]+", marker)
    return name.group(1).strip() if name else address.group() if address else None


def _own(lines: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the sender's own words, the quotations between them, and the signatures."""
    own: list[str] = []
    cited: list[str] = []
    signatures: list[str] = []
    segment: list[str] = []
    at = 0

    def said() -> None:
        words, signature = _signed(segment, bool(own))
        if words:
            own.append(words)
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
        _drop_attribution(segment)
        said()
        cited.append("\n".join(_unquoted(lines[at:ends])).strip())
        at = ends
    said()
    return "\n\n".join(own), cited, signatures


def _drop_attribution(segment: list[str]) -> None:
    """Take what announces a quotation off the words before it."""
    last = next((n for n in range(len(segment) - 1, -1, -1) if segment[n]), None)
    if last is None or not segment[last].endswith(_COLONS):
        return
    begun = _attribution(segment, last)
    if begun is None:
        line = segment[last]
        above = [one for one in segment[max(0, last - 2) : last] if one]
        dated = re.search(r"\d{1,2}[.:/]\d{2}", " ".join((*above, line)))
        if len(line) > _MAX_LINE_LENGTH or not (("@" in line and dated) or _WROTE.search(line)):
            return
        begun = last
        if "<" not in line and above and "<" in above[-1] and ">" not in above[-1]:
            begun = last - 1
    elif begun == last and last and "<" not in segment[last] and segment[last - 1].endswith("<"):
        begun = last - 1
    del segment[begun:]


def _unquoted(lines: list[str]) -> list[str]:
    """Return lines without the mark of the first level."""
    return [re.sub(r"^\s?\|?> ?", "", line) for line in lines]


def _signed(lines: list[str], later: bool) -> tuple[str, str]:
    """Part words and the signature below them. `later`: other words came before these."""
    ends = len(lines)
    found: list[str] = []
    for at in range(max(0, ends - 4 * _MAX_SIGNATURE_LINES), ends):
        line = lines[at]
        if len(line) > _MAX_LINE_LENGTH and not _DISCLAIMER.match(line):
            continue
        below = lines[at:]
        if not _ends_with(lines, at, later):
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
            found = below
            break
    words = "\n".join(lines[:ends]).strip("\n ")
    return re.sub(r"\n{3,}", "\n\n", words).strip(), "\n".join(found).strip()


def _ends_with(lines: list[str], at: int, later: bool) -> bool:
    """Return whether a signature may begin at a line: something was said before it."""
    return later or any(line.strip() for line in lines[:at]) or bool(_DASHES.match(lines[at]))
