"""WhatsApp's own phrases in text exports, in the languages of the exporting phones."""

# ruff: noqa: RUF001

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import msgspec

#: Direction marks, which precede WhatsApp's own text and surround numbers.
MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"

# Marks, and zero-width joiners within words, which some tools leave out.
_INVISIBLE = MARKS + "\u200b\u200c\u200d"

#: The marks around a number that was pasted.
DIRECTION_EMBEDDINGS = re.compile("[\u202a-\u202e]")
#: The marks around a mentioned name: "@\u2068Zed\u2069".
ISOLATES = re.compile("[\u2066-\u2069]")
#: The last mark in a line, where the sender's own text ends.
LAST_MARK = re.compile(r"[\u200e\u200f](?=[^\u200e\u200f]*\Z)")

# AM and PM markers of many languages, without spaces and full stops.
_MORNING = (
    *("am", "a", "ص", "صباحًا", "صباحا", "上午", "凌晨", "早上", "清晨", "오전", "午前", "πμ", "öö"),
    *("قظ", "पूर्वाह्न", "fm", "sa", "dop", "de", "дп", "vm", "vorm", "ap", "pg", "pd", "rn", "sf"),
    *("fh", "gh", "to", "goöň", "priešpiet", "priekšp", "eparadites", "тң", "үө", "претпл", "проб"),
    *("преподне", "ጥዋት", "ກ່ອນທ່ຽງ", "ก่อนเที่ยง", "နံနက်", "පෙව", "পূৰ্বাহ্ন", "मपू", "முற்பகல்"),
    *("ಪೂರ್ವಾಹ್ನ", "ਪੂਦੁ", "صبح", "بن", "לפנה״צ"),
)
_AFTERNOON = (
    *("pm", "p", "م", "مساءً", "مساء", "下午", "晚上", "傍晚", "中午", "오후", "午後", "μμ", "ös"),
    *("بظ", "अपराह्न", "em", "ch", "odp", "du", "пп", "nm", "nachm", "ip", "ptg", "md", "in", "ym"),
    *("eh", "gd", "tk", "gosoň", "popiet", "pēcp", "pop", "epasdites", "тк", "үх", "попл", "слоб"),
    *("поподне", "ከሰዓት", "ຫຼັງທ່ຽງ", "หลังเที่ยง", "ညနေ", "පව", "অপৰাহ্ন", "मउ", "பிற்பகல்"),
    *("ಅಪರಾಹ್ನ", "ਬਾਦੁ", "شام", "دن", "אחה״צ"),
)
MORNING = frozenset(_MORNING)
AFTERNOON = frozenset(_AFTERNOON)
#: Words next to a time that are not AM/PM markers.
NO_DAY_HALF = frozenset({"uhr", "h", "hrs", "std"})

#: A mark that WhatsApp writes before its own text, as an iPhone exports it.
OWN_MARKS = ("\u200e", "\u200f")
_LEFT_TO_RIGHT = "\u200e"

_OMITTED = (
    *("omitted", "weggelassen", "ausgeschlossen", "omitid[oa]s?", "omis(?:es?)?", "absente?s?"),
    *("omess[oiae]", "oculto", "oculta", "weggelaten", "пропущено?", "без медиафайлов", "atlandı"),
    *("dahil edilmedi", "pominięto", "utelämnad(?:es)?", "utelatt", "udeladt", "dihilangkan"),
    *("略过", "省略", "생략", "استبعاد", "محذوف", "छोड़ा", "no incluido", "не включен[ыо]?"),
    *("tidak disertakan", "jätettiin pois", "vynecháno?", "ikke inkludert", "ausgelassen"),
    *("ocultad[oa]s?", "הושמט", "略去", "제외", "含まれ", "मीडिया", "মিডিয়া", "без медіа"),
    *("παραλείφθηκ", "bỏ qua", "رسانه", "omise?", "kihagyva"),
)
_KINDS = (
    *("media", "médias?", "multimedia", "multimedios", "medien", "mídia", "медиа", "файл", "image"),
    *("imagem", "imagen", "bild", "foto", "photo", "video", "vídeo", "vidéo", "audio", "áudio"),
    *("sticker", "figurinha", "autocollant", "gif", "document", "documento", "dokument"),
    *("contact", "contacto", "kontakt", "изображение", "видео", "аудио", "стикер", "immagine"),
    *("afbeelding", "medya", "görüntü", "bestand", "archivo", "fichier", "media file"),
    *("view once voice message", "video note", "voice message"),
)
#: The text of a message whose file was not exported: "<Media omitted>", "image omitted".
OMITTED = re.compile(
    rf"<[^<>:\n]{{0,100}}(?:{'|'.join(_OMITTED)})[^<>:\n]{{0,100}}>"
    rf"|(?:{'|'.join(_KINDS)})(?: \w+){{0,2}} (?:{'|'.join(_OMITTED)})",
    re.IGNORECASE,
)

# The same phrases after a mark, in a looser form of at most five words: "画像は省略されました".
# English, the first row of _OMITTED, is left out: whatsapp_phrases.json has every English phrase.
_MARKED_OMITTED = re.compile(
    rf"[^\n:]{{0,60}}(?:{'|'.join(_OMITTED[1:])})[^\n:]{{0,30}}",
    re.IGNORECASE,
)
_MAX_PLACEHOLDER_WORDS = 5

# Words of the note "<This message was edited>", in languages whose phrase may not be in
# whatsapp_phrases.json.
_LOOSELY_EDITED = re.compile(
    "edited|bearbeitet|editó|editad[oa]|modifié|modificato|bewerkt|изменено|отредактировано"
    "|düzenlendi|edytowano|redigerades|redigeret|diedit|编辑|編集|수정|تعديل|ویرایش|संपादित"
)

# Texts of WhatsApp for a deleted message that are not in the table of phrases.
_DELETED_BY_ADMIN = re.compile(
    r"(?:this message was|you) deleted(?: this message)? (?:by|as) (?:an )?admin(?: .*)?\.?",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"(?:waiting for this message|warte[nt]? auf diese nachricht|esperando (?:este|el) mensaje"
    r"|en attente (?:de ce|du) message|in attesa (?:di questo|del) messaggio"
    r"|aguardando (?:esta )?mensagem|wachten op (?:dit )?bericht|ожидание (?:этого )?сообщения)"
    r"\. [^.\n]{5,80}\.(?: [^.\n]{3,30})?",
    re.IGNORECASE,
)

# Parts of the notices that follow a mark. Most notices in a group begin with the name of a member
# instead, or have the group as their sender.
_NOTICE_PART = re.compile(
    r"disappearing message|message timer|business (?:account|uses|works)|this business|is a contact"
    r"|(?:un)?blocked this (?:contact|account|person|number)|security code|end-to-end|view once"
    r"|(?:voice|video|group|audio) call|\bcall(?:ed)? .{0,20}(?:answer|missed|declined)"
    r"|waiting for this message|learn more|changed (?:their|to a new) (?:phone )?number"
    r"|pinned a message|created (?:this |the )?group|group(?:'s)? (?:name|icon|description|setting)"
    r"|invite link|now an admin|no longer an admin|(?:added|removed) you\b"
    r"|selbstlöschende|sicherheitsnummer|unternehmens(?:konto|account)|ende-zu-ende"
    r"|(?:sprach|video|gruppen)anruf|hat (?:die|diese) gruppe"
    r"|mensajes temporales|código de seguridad|cuenta de empresa|extremo a extremo"
    r"|(?:video)?llamada|creó (?:el|este) grupo"
    r"|messages éphémères|code de sécurité|bout en bout|appel (?:vocal|vidéo)"
    r"|a créé (?:le|ce) groupe"
    r"|messaggi effimeri|codice di sicurezza|crittografat|(?:video)?chiamata"
    r"|ha creato (?:il|questo) gruppo"
    r"|mensagens temporárias|código de segurança|ponta a ponta|chamada de|videochamada"
    r"|criou (?:o|este) grupo"
    r"|verdwijnende berichten|beveiligingscode|spraakoproep|video-?oproep|heeft (?:de|deze) groep"
    r"|исчезающие сообщения|код безопасности|сквозным шифрованием|(?:аудио|видео)звонок"
    r"|süreli mesajlar|güvenlik kodu|uçtan uca|(?:sesli|görüntülü) arama",
    re.IGNORECASE,
)
# "Voice call. \u200e2 min": the second mark precedes what WhatsApp adds.
_TWICE_MARKED = re.compile(r"[^\n\u200e\u200f]{1,60}[.,] ?[\u200e\u200f][^\n]{1,60}")


# How many characters at the start of a text are searched for a phrase. All phrases in the table are
# shorter.
_MAX_PHRASE = 300
# Full stops, which phrases end with in some versions only.
_STOPS = " .。।!"


class _Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Phrases of WhatsApp in the languages of phones; `sources` names where they are published."""

    sources: list[str]
    media: list[str]
    image: list[str]
    video: list[str]
    audio: list[str]
    sticker: list[str]
    gif: list[str]
    contact: list[str]
    document: list[str]
    deleted: list[str]
    deleted_by_owner: list[str]
    edited: list[str]
    missed_call: list[str]
    live_location: list[str]
    encrypted: list[str]
    security_code: list[str]


def _fold(text: str) -> str:
    """Return a phrase for comparison: without marks, full stops and differences of case."""
    plain = "".join(char for char in unicodedata.normalize("NFC", text) if char not in _INVISIBLE)
    return " ".join(plain.casefold().split()).strip(_STOPS)


def _read_phrases() -> _Phrases:
    path = Path(__file__).with_suffix(".json")
    return msgspec.json.decode(path.read_bytes(), type=_Phrases)


_PHRASES = _read_phrases()
_MEDIA = frozenset(map(_fold, _PHRASES.media))
_FILES = frozenset(
    _fold(phrase)
    for kind in ("image", "video", "audio", "sticker", "gif", "contact", "document")
    for phrase in getattr(_PHRASES, kind)
)
_DELETED = frozenset(map(_fold, (*_PHRASES.deleted, *_PHRASES.deleted_by_owner)))
_EDITED = frozenset(map(_fold, _PHRASES.edited))
_NOTICES = frozenset(map(_fold, (*_PHRASES.missed_call, *_PHRASES.live_location)))
_NOTICE_STARTS = tuple(map(_fold, (*_PHRASES.encrypted, *_PHRASES.security_code)))

_IN_BRACKETS = re.compile(r"<([^<>\n]{2,100})>")
_NEVER_WHATSAPPS = re.compile(r"[\d@:/=]|\A\W+\Z")
_AT_END = re.compile(rf"<([^<>\n]{{2,100}})>[{MARKS}]*\s*\Z")


def bracketed_phrase(line: str) -> str | None:
    """Return the phrase if a line is nothing but a phrase in angle brackets, else None."""
    found = _IN_BRACKETS.fullmatch(line.strip(MARKS + " \t\r"))
    return None if found is None else _fold(found[1])


def bracketed_phrase_at_end(text: str) -> tuple[int, str] | None:
    """Return the offset and the phrase if a text ends with a phrase in angle brackets, or None."""
    at = text.rfind("<")
    found = _AT_END.match(text, at) if at > 0 else None
    return None if found is None else (at, _fold(found[1]))


def may_be_whatsapp_phrase(phrase: str) -> bool:
    """Return whether a phrase that an export has in brackets may be WhatsApp's, in any language.

    Callers ask only about phrases that the export repeats.

    A single ASCII word cannot, such as "<sigh>" or "<br>", and neither can an address.
    """
    return _NEVER_WHATSAPPS.search(phrase) is None and not (phrase.isascii() and " " not in phrase)


def is_edit_mark(phrase: str) -> bool:
    """Return whether a phrase in brackets says that the message before it was edited."""
    return phrase in _EDITED or _LOOSELY_EDITED.search(phrase) is not None


def is_deletion(words: str) -> bool:
    """Return whether the text of a message says that it was deleted."""
    return _fold(words[:_MAX_PHRASE]) in _DELETED or _DELETED_BY_ADMIN.fullmatch(words) is not None


def is_system_message(words: str) -> bool:
    """Return whether a message is WhatsApp's own text, as Android writes it: without a mark."""
    return _fold(words[:_MAX_PHRASE]) in _NOTICES or _WAITING.fullmatch(words) is not None


def is_omitted(words: str, mark: str) -> bool:
    """Return whether a line is the placeholder of a file that was not exported.

    `mark`: the direction mark before it, or "". The looser pattern `_MARKED_OMITTED` counts only
    after a left-to-right mark, since people's texts may begin with a right-to-left one.
    """
    phrase = bracketed_phrase(words)
    if OMITTED.fullmatch(words) or (phrase is not None and phrase in _MEDIA):
        return True
    if mark in OWN_MARKS and _fold(words.strip("<>")) in _FILES:
        return True
    return (
        mark == _LEFT_TO_RIGHT
        and len(words.split()) <= _MAX_PLACEHOLDER_WORDS
        and _MARKED_OMITTED.fullmatch(words) is not None
    )


def is_marked_notice(text: str) -> bool:
    """Return whether a text that begins with a mark is a notice of WhatsApp.

    People's messages may begin with marks too: before a number that was pasted, or before words in
    a right-to-left script. So the text after the mark must be a known phrase.
    """
    words = text.strip(MARKS + " \t\r\n")
    folded = _fold(words[:_MAX_PHRASE])
    if folded in _NOTICES or folded.startswith(_NOTICE_STARTS) or _TWICE_MARKED.fullmatch(words):
        return True
    return text.startswith(_LEFT_TO_RIGHT) and _NOTICE_PART.search(words[:_MAX_PHRASE]) is not None


#: The text of a message with a location: "location: https://maps.google.com/?q=1,2".
PLACE = re.compile(
    r"[^\n:]{3,30}: (https://(?:maps\.google\.com/\?q=|(?:www\.)?foursquare\.com/v/)\S+)"
)

#: An exported file on an iPhone: "<attached: 0001-PHOTO.jpg>".
ATTACHED = re.compile(r"<[^<>:\n]{2,40}:[  ]?([^<>\n]+\.\w{1,6})>\s*\Z")
#: An exported file on Android: "IMG-0001.jpg (file attached)".
ATTACHED_ANDROID = re.compile(r"([^\n/\\]*\S\.\w{1,5}) \([^()\n]{4,40}\)")
#: The number of pages after a document's name: "report.pdf • 3 pages".
PAGES = re.compile(r"•[^\n•]*\Z")

#: A poll, one of its options, and that option's count of votes, which changes.
POLL = re.compile(r"(?:POLL|UMFRAGE|ENCUESTA|SONDAGE|SONDAGGIO|ENQUETE|PEILING|ОПРОС|ANKET):")
OPTION = re.compile(r"(?:OPTION|OPCIÓN|OPÇÃO|OPZIONE|OPTIE|ВАРИАНТ|SEÇENEK|OPSI|OPCJA): (.+)")
VOTES = re.compile(r" \(\d+ [^()\n]+\)$", re.MULTILINE)

# WhatsApp's words for a chat in the names of files: after the program's name, and in languages that
# put the chat's name first, with what joins the two.
_PROGRAM = "(?:whatsapp|واتساب)"
_CHAT_WORDS = (
    *("chatt?", "unterhaltung", "gesprek", "sohbeti?", "samtale", "keskustelu", "vestlus"),
    *("razgovor", "pokalbis", "sarakste", "klepet", "csevegés", "чат", "разговор", "ћаскање"),
)
_FINAL_CHAT_WORDS = (
    *(
        "chat",
        "chati",
        "sohbeti",
        "söhbəti",
        "聊天(?:记录|紀錄)?",
        "对话",
        "對話",
        "チャット",
        "トーク",
    ),
    *("대화", "채팅", "चैट", "गप्पा", "চ্যাট", "વાત", "ਗੱਲਬਾਤ", "உரையாடல்", "సంభాషణ", "ಸಂಭಾಷಣೆ"),
    *("ചാറ്റുകൾ", "ചാറ്റ്", "بات چیت"),
)
_JOINTS = (
    *(" -", " –", " ile", " ilə", " bilan", " ?的", " ?との", " ?님과의", " के साथ", " सोबतच्या"),
    *(" এর সাথে", " સાથેની", " ਨਾਲ", " உடன்", " తో", " ಜೊತೆ", " മായുള്ള", " کے ساتھ"),
)
_PREPOSITIONS = (
    *("with", "mit", "con", "avec", "com", "met", "med", "z użytkownikiem", "z", "de", "dengan"),
    *("ile", "с контактом", "с", "з", "henkilön", "kontaktiga", "مع"),
)
#: WhatsApp's name for a chat's file or folder, with the chat's name; the pattern that matches first
#: counts.
CHAT_NAMES = (
    re.compile(
        rf"(?:[与與] ?)?(?P<name>(?!chats? ).+?)(?:{'|'.join(_JOINTS)})?"
        rf" ?{_PROGRAM}[ -]?(?:{'|'.join(_FINAL_CHAT_WORDS)})(?: ?\(\d+\))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:.*{_PROGRAM}(?:['’]i)?[ -]?(?:{'|'.join(_CHAT_WORDS)})?"
        rf"(?: (?:{'|'.join(_PREPOSITIONS)}))?"
        r"|(?:chat|conversa|discussion|conversación|чат)[\w ]* whatsapp"
        r"(?: (?:with|mit|con|avec|com|do|с|de))?)"
        r"(?: -| –)? (?P<name>.+?)(?: ?\(\d+\))?",
        re.IGNORECASE,
    ),
)
