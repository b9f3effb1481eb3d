"""Whether a message to an assistant begins a play or a story: what is said in it is nobody's own.

"Act as a dietician. I'm vegan." asks for advice, and what is said of oneself is so. "Answer as if
you were the receptionist of my clinic" makes the writer a patient that they are not.
"""

from __future__ import annotations

import re

_IS = r"(?:['’]re| are| were)\b"
#: Who serves those that come: whoever speaks to them plays a customer.
_SERVES = (
    r"(?:chat ?bot|bot|receptionist|cashier|clerk|waiter|waitress|barista|bartender|"
    r"(?:customer|support|service|sales|call[- ]cent(?:er|re)) \w+|help ?desk|hotline|operator|"
    r"shop|store|restaurant|hotel|website|recruiter|interviewer|customer|client|patient)"
)
_PLAYS = re.compile(
    r"\b(?:story[- ]?time\b|"
    r"(?:main character|protagonist|villain|hero|heroine)(?:['’]s| is| will be) (?-i:[A-Z]|an? )|"
    r"act as (?:\w+ ){0,2}\w+[ \t]*:[ \t\r]*\n|"
    r"role[- ]?play(?:ing|s)?\b|play (?:the (?:role|part) of|a character)\b|"
    r"pretend (?:that )?(?:we|i)\b|"
    r"simulate (?:an?|the|our) (?:\w+ )?(?:conversation|chat|talk|call|interview|dialogue|dialog|"
    r"session|negotiation|game)\b|"
    rf"(?:pretend|imagine) (?:(?:that )?you{_IS}|to be)[^.!?\n]{{1,60}}?"
    rf"\b(?:{_SERVES}|and (?:i(?:['’]m| am|['’]ll be| will be)|me))\b|"
    r"(?:answer|respond|reply|behave|talk|speak|act|chat)(?: \w+){0,3} "
    rf"(?:(?:as if|as though|like) you{_IS}|as|like)[^.!?\n]{{1,60}}?\b{_SERVES}\b)",
    re.IGNORECASE,
)
#: Somebody tells of a play, and asks for none.
_TELLS = re.compile(
    r"\b(?:i|we|he|she|they|don['’]?t|do not|never|not|can['’]?t|to|no)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:want|need|like|ask(?:ing)?) (?:you|us) to \Z", re.IGNORECASE)
#: In characters: a play is asked for near the beginning; what leads to it stands so near.
_FIRST, _NEAR = 600, 40


def begins_play(text: str) -> bool:
    """Whether a message asks, near its beginning, to play somebody or tell a story from here on."""
    for found in _PLAYS.finditer(text, 0, _FIRST):
        before = text[max(0, found.start() - _NEAR) : found.start()]
        if _ASKS.search(before) or _TELLS.search(before) is None:
            return True
    return False
