"""WhatsApp's own phrases in text exports, in the languages of the exporting phones."""

# ruff: noqa: RUF001

from __future__ import annotations

import re

#: Direction marks, which precede WhatsApp's own text and surround numbers.
MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"

#: The marks around a mentioned name: "@\u2068Zed\u2069".
ISOLATES = re.compile("[\u2066-\u2069]")
#: The last mark in a line, where the sender's own text ends.
LAST_MARK = re.compile(r"[\u200e\u200f](?=[^\u200e\u200f]*\Z)")

# Halves of the day, without spaces and full stops.
_MORNING = (
    *("am", "a", "ص", "صباحًا", "صباحا", "上午", "凌晨", "早上", "清晨", "오전", "午前", "πμ", "öö"),
    *("قظ", "पूर्वाह्न", "fm", "sa", "dop", "de", "дп", "vm", "ap"),
)
_AFTERNOON = (
    *("pm", "p", "م", "مساءً", "مساء", "下午", "晚上", "傍晚", "中午", "오후", "午後", "μμ", "ös"),
    *("بظ", "अपराह्न", "em", "ch", "odp", "du", "пп", "nm", "nachm", "ip", "ptg"),
)
MORNING = frozenset(_MORNING)
AFTERNOON = frozenset(_AFTERNOON)
#: Words next to a time that do not name a half.
NO_DAY_HALF = frozenset({"uhr", "h", "hrs", "std"})

_EDITED = (
    *("edited", "bearbeitet", "editó", "editado", "editada", "modifié", "modificato", "bewerkt"),
    *("изменено", "отредактировано", "düzenlendi", "edytowano", "redigerades", "redigeret"),
    *("diedit", "编辑", "編集", "수정", "تعديل", "ویرایش", "संपादित"),
)
# These patterns search arbitrary text: none begins with a repetition, and repetitions within are
# bounded, so that no text makes them slow.

#: At the end of an edited message: "<This message was edited>".
EDITED = re.compile(
    rf"<[^<>\n]{{0,100}}(?:{'|'.join(_EDITED)})[^<>\n]{{0,100}}>[{MARKS}]*\s*\Z", re.IGNORECASE
)

#: The text of a deleted message.
DELETED = re.compile(
    "|".join(
        (
            r"(?:this message was|you) deleted(?: this message)?(?: by admin .*)?\.?",
            r"diese nachricht wurde gelöscht\.?",
            r"du hast diese nachricht gelöscht\.?",
            r"se eliminó este mensaje\.?|eliminaste este mensaje\.?|este mensaje fue eliminado\.?",
            r"ce message a été supprimé\.?|vous avez supprimé ce message\.?",
            r"questo messaggio è stato eliminato\.?|hai eliminato questo messaggio\.?",
            r"(?:esta )?mensagem (?:foi )?apagada\.?|você apagou esta mensagem\.?",
            r"dit bericht is verwijderd\.?|je hebt dit bericht verwijderd\.?",
            r"(?:данное )?сообщение удалено\.?|вы удалили это сообщение\.?",
            r"bu mesaj silindi\.?|bu mesajı sildiniz\.?",
            r"ta wiadomość została usunięta\.?|usunięto tę wiadomość\.?",
            r"pesan ini (?:telah )?dihapus\.?|anda (?:telah )?menghapus pesan ini\.?",
            r"此消息已被?删除。?|您删除了此消息。?|このメッセージは削除されました。?",
            r"삭제된 메시지입니다\.?|تم حذف هذه الرسالة\.?|यह संदेश हटाया गया(?: था)?।?",
        )
    ),
    re.IGNORECASE,
)

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

#: The same after a mark that only WhatsApp writes, in looser form: "画像は省略されました".
OWN_OMITTED = re.compile(
    rf"[^\n:]{{0,60}}(?:{'|'.join(_OMITTED)})[^\n:]{{0,30}}|تم حذف (?:الصورة|الفيديو|الملصق|الصوت)",
    re.IGNORECASE,
)

#: The text of a message that WhatsApp wrote as the sender, on Android without a mark.
SYSTEM_MESSAGE = re.compile(
    "|".join(
        (
            r"missed (?:group )?(?:voice|video) call\.?",
            r"verpasster (?:gruppen-?)?(?:sprach|video)anruf",
            r"(?:video)?llamada(?: de voz)? perdida|chamada de (?:voz|vídeo) perdida",
            r"appel (?:vocal|vidéo) manqué|(?:video)?chiamata(?: vocale)? persa",
            r"пропущенный (?:аудио|видео)?звонок|gemiste (?:spraak|video-?)oproep",
            r"live location shared|live-standort wird geteilt",
            r"ubicación en tiempo real compartida|localização em tempo real compartilhada",
            r"localisation en direct partagée|posizione in tempo reale condivisa",
            r"waiting for this message\. this may take a while\.(?: learn more)?",
        )
    ),
    re.IGNORECASE,
)

#: The text of a message with a location: "location: https://maps.google.com/?q=1,2".
PLACE = re.compile(
    r"[^\n:]{3,30}: (https://(?:maps\.google\.com/\?q=|(?:www\.)?foursquare\.com/v/)\S+)"
)

#: An exported file on an iPhone: "<attached: 0001-PHOTO.jpg>".
ATTACHED = re.compile(r"<[^<>:\n]{2,40}:[  ]?([^<>\n]+\.\w{1,6})>\s*\Z")
#: And on Android: "IMG-0001.jpg (file attached)".
ATTACHED_ANDROID = re.compile(r"([^\n/\\]*\S\.\w{1,5}) \([^()\n]{4,40}\)")
#: The text before it for a document: "report.pdf • 3 pages".
PAGES = re.compile(r"•[^\n•]*\Z")

#: A poll, one of its options, and that option's count of votes, which changes.
POLL = re.compile(r"(?:POLL|UMFRAGE|ENCUESTA|SONDAGE|SONDAGGIO|ENQUETE|PEILING|ОПРОС|ANKET):")
OPTION = re.compile(r"(?:OPTION|OPCIÓN|OPÇÃO|OPZIONE|OPTIE|ВАРИАНТ|SEÇENEK|OPSI|OPCJA): (.+)")
VOTES = re.compile(r" \(\d+ [^()\n]+\)$", re.MULTILINE)

#: WhatsApp's name for a chat's file or folder, with the chat's name.
CHAT_NAME = re.compile(
    r"(?:.*whatsapp[ -]?(?:chat|unterhaltung|sohbeti?|gesprek)?"
    r"(?: (?:with|mit|con|avec|com|met|med|z|de|dengan|ile))?"
    r"|(?:chat|conversa|discussion|conversación|чат)[\w ]* whatsapp"
    r"(?: (?:with|mit|con|avec|com|do|с|de))?)"
    r"(?: -| –)? (?P<name>.+?)(?: ?\(\d+\))?",
    re.IGNORECASE,
)
