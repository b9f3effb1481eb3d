"""Simple rules for whether a prompt or a turn is about the speaker's own affairs.

The first person is recognised in some twenty languages, requests only in English.
"""

from __future__ import annotations

import re

from recollect.text.lexicon import word_set

# The first person as subject or owner: "give me" says nothing about one's own affairs.
_FIRST = word_set(
    """i im ive my mine myself we our ours ourselves
    ich mein meine meinen mir mich wir unser unsere je j mon mes moi nous notre yo mi mis nosotros
    nuestro eu meu minha nós io mio mia noi ik mijn wij jag vi jeg mitt saya aku gue kami kita ben
    benim я мне мой моя мои мы أنا मैं मेरा मेरी"""
)
_WORD = re.compile(r"[^\W\d_]+")
# These scripts write no spaces between words.
_UNSPACED = re.compile("[我私僕俺]|저는|나는|제가|내가")
# A turn shows at its beginning whom it is about.
_READ = 400
# Beginnings of requests to an assistant, after courtesies.
_ORDER = re.compile(
    r"""\W*(?:(?:please|now|ok|okay|so|then|and|also|hey|hi|hello|thanks|great|next|first|just)\W+)*
    (?:(?:can|could|will|would)\ you
    |i\ (?:want|need)\ (?:you|a|an|some|the)|i(?:['’]d|\ would)\ like\ (?:you|a|an|some|the)
    |act|add|analy[sz]e|answer|break|build|calculate|change|check|choose|code|combine|compare
    |complete|compose|continue|convert|correct|create|define|describe|design|develop|discuss|do
    |draft|draw|edit|elaborate|evaluate|expand|explain|extract|find|finish|fix|format|generate|give
    |go|help|identify|imagine|implement|improve|include|keep|let|list|make|modify|organi[sz]e
    |outline|paraphrase|provide|put|read|rephrase|rewrite|say|show|simplify|solve|suggest
    |summari[sz]e|take|tell|think|translate|try|turn|update|use|wrap|write)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# "You said", "we discussed", "last time": references to earlier conversation.
_BACK = re.compile(
    r"""\b(?:you\ (?:said|told|mentioned|suggested|recommended|promised)
    |(?:we|i)\ (?:discussed|talked|spoke|agreed|decided|told\ you|asked\ you|mentioned)
    |(?:like|as)\ (?:i|we|you)\ said
    |(?:you|we)(?:['’]ve|\ have)\ (?:already\ )?(?:said|told|mentioned|discussed|talked|agreed)
    |(?:last|previous|our\ last|our\ earlier)\ (?:time|session|conversation|chat|talk)
    |(?:do\ you|you)\ (?:still\ )?(?:remember|recall))\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A turn with fewer words says little about anybody.
_ENOUGH = 5


def first_person(text: str) -> bool:
    """Return whether a text speaks of its author or of what is theirs."""
    if not _FIRST.isdisjoint(_WORD.findall(text.lower())):
        return True
    return not text.isascii() and _UNSPACED.search(text) is not None


def orders(text: str) -> bool:
    """Return whether a text begins with a request."""
    return _ORDER.match(text) is not None


def is_personal(text: str) -> bool:
    """Return whether a turn is about its author: first person, no request, five words or more.

    A session is about its user if half of the user's turns are (AUROC 0.95 against the labels of
    RealMem's sessions).
    """
    start = text[:_READ]
    enough = len(start.split(None, _ENOUGH - 1)) >= _ENOUGH
    return enough and not orders(start) and first_person(start)


def refers_back(text: str) -> bool:
    """Return whether a text refers to earlier conversation."""
    return _BACK.search(text) is not None
