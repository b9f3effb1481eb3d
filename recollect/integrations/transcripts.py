"""Parser of conversations given as one text.

Three formats are recognised: messages as JSON (a list, an object with `messages`, or JSON Lines),
blocks with their roles (`[role: user]` … `[user:end]`, `<|im_start|>user`), and lines that begin
with their speaker (`User: …`, `**Alice:** …`, `[10:02] Bob: …`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: The roles of speakers from whose turns no facts are extracted.
ASSISTANTS = _word_set(
    "assistant ai bot chatbot agent model llm claude chatgpt gpt gemini copilot system developer "
    "tool function"
)
_ROLES = ASSISTANTS | _word_set("user human customer")
_USERS = _ROLES - ASSISTANTS
# A label with one of these roles shows that the text is a conversation. "System: Windows" does not.
_SPEAKING_ROLES = _ROLES - _word_set("agent model system developer tool function customer")


class Turn(NamedTuple):
    """One turn. `before` and `after` are the text around its content, such as the label.

    `speaker` is a role in lower case, or a name as written.
    """

    speaker: str
    content: str
    before: str = ""
    after: str = ""

    @property
    def is_assistant(self) -> bool:
        """Whether no facts are extracted from the turn."""
        return self.speaker.casefold() in ASSISTANTS

    @property
    def name(self) -> str | None:
        """The speaker's name; None if the speaker is a role."""
        return None if self.speaker.casefold() in _ROLES else self.speaker


def parse_turns(text: str) -> list[Turn]:
    """Return the turns of a conversation in order; [] if the text is not a conversation."""
    for read in (_as_json, _in_blocks, _in_lines):
        found = [turn for turn in read(text) if turn.content.strip()]
        if found:
            return found
    return []


def _as_json(text: str) -> Iterator[Turn]:
    for message in _messages(text):
        role = message.get("role") or message.get("speaker") or message.get("sender")
        content = message.get("content", message.get("text"))
        if isinstance(content, list):
            parts = [part.get("text") for part in content if isinstance(part, dict)]
            content = "\n".join(part for part in parts if isinstance(part, str))
        if not isinstance(role, str) or not role.strip():
            return
        if isinstance(content, str):
            name = message.get("name")
            of_name = isinstance(name, str) and role.casefold() in _USERS and name.strip()
            speaker = str(name) if of_name else _speaker(role)
            yield Turn(speaker, content, f"{speaker}: ", "\n")


def _messages(text: str) -> Sequence[dict[str, Any]]:
    """Return the messages in a JSON text; () if it is not JSON, or not only messages."""
    start = text.lstrip()[:1]
    if start not in ("[", "{"):
        return ()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        try:
            document = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return ()
    if isinstance(document, dict):
        document = document.get("messages") or document.get("conversation") or [document]
    if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
        return ()
    return document if all(("content" in one or "text" in one) for one in document) else ()


_BLOCKS = (
    # [role: user] … [user:end]
    re.compile(
        r"\[role:\s*(?P<role>[\w .-]{1,40})\][ \t]*\n?(?P<said>.*?)"
        r"(?P<after>\n?[ \t]{0,9}\[(?P=role):end\]\s*|(?=\[role:)|\Z)",
        re.DOTALL | re.IGNORECASE,
    ),
    # <|im_start|>user … <|im_end|>
    re.compile(
        r"<\|im_start\|>\s*(?P<role>[\w.-]{1,40})[ \t]*\n(?P<said>.*?)"
        r"(?P<after>\s{0,9}<\|im_end\|>\s*|(?=<\|im_start\|>)|\Z)",
        re.DOTALL,
    ),
)


def _in_blocks(text: str) -> Iterator[Turn]:
    for pattern in _BLOCKS:
        if not pattern.match(text, len(text) - len(text.lstrip())):
            continue
        end = 0
        for found in pattern.finditer(text):
            before = text[end : found.start("said")]
            yield Turn(_speaker(found["role"]), found["said"], before, found["after"])
            end = found.end()
        return


_TIME = r"(?:[\[(][^\])\n]{3,40}[\])][ \t]*|\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?[ \t]+)?"
_LABEL = re.compile(
    rf"^[ \t]*(?:[-*>][ \t]+)?{_TIME}(?P<mark>\*\*|__|\#{{1,4}}[ \t]+)?"
    r"(?P<who>[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2})"
    r"(?:[ \t]*\([^)\n]{1,40}\))?(?P<end>:(?:\*\*|__)?|(?:\*\*|__):)(?:[ \t]+|$)",
    re.MULTILINE,
)
# Labels before a colon that are not speakers.
_NON_SPEAKERS = _word_set(
    """note notes reminder update updates bio about summary goal goals profile todo task tasks re
    fwd subject ps question answer q a quote memo diary journal today tomorrow yesterday edit fact
    facts preference preferences context background name email phone address city country job age
    title date time location place topic example examples warning tip important source sources
    link url description decision decisions result results status from to cc bcc sent plan plans
    agenda action actions idea ideas problem solution error input output step steps favourite
    favorite hobby hobbies likes dislikes allergies allergy birthday also however remember fyi
    tldr"""
)
_OPENINGS = _word_set("dear hi hello hey the a an my our your this that these those")
_SPEECH = re.compile(
    r"[.!?…](?:\s|\Z)|\b(?:i|i['’]m|i['’]ve|i['’]ll|i['’]d|my|me|we|we['’]re|our|you|your)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\W*(?:i|i['’]m|i['’]ve|i['’]ll|i['’]d|my|we|we['’]re|our)\b", re.I)


def _in_lines(text: str) -> Iterator[Turn]:
    labels = [label for label in _LABEL.finditer(text) if _is_speaker_label(label["who"])]
    if not labels or text[: labels[0].start()].strip():
        return
    ends = [*(label.start() for label in labels[1:]), len(text)]
    texts = [text[label.end() : end] for label, end in zip(labels, ends, strict=True)]
    if not _is_dialogue([label["who"] for label in labels], texts):
        return
    start = 0
    for label, turn, end in zip(labels, texts, ends, strict=True):
        content = turn.rstrip()
        after = turn[len(content) :]
        yield Turn(_speaker(label["who"]), content, text[start : label.end()], after)
        start = end


def _is_speaker_label(who: str) -> bool:
    folded = who.casefold()
    if folded in _ROLES:
        return True
    first, *_ = folded.split()
    return (
        folded not in _NON_SPEAKERS
        and first not in _OPENINGS
        and all(word[0].isupper() for word in who.split())
    )


def _is_dialogue(labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether labelled lines are turns of people rather than the fields of a form."""
    names = {label.casefold() for label in labels}
    if names & _SPEAKING_ROLES:
        return True
    if len(labels) == 1:
        return _FIRST_PERSON.match(texts[0]) is not None
    spoken = sum(_SPEECH.search(text) is not None for text in texts)
    return len(names) < len(labels) or 2 * spoken >= len(texts)


def _speaker(who: str) -> str:
    folded = who.strip().casefold()
    return folded if folded in _ROLES else who.strip()
