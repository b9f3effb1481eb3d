"""Whether a message to an assistant begins a role play or a story.

What is said in it says nothing about its sender. "Act as a dietician. I'm vegan." asks for advice,
so what is said of oneself is true. "Answer as if you were the receptionist of my clinic" makes the
sender a patient who may not exist.
"""

from __future__ import annotations

import re

_IS = r"(?:['’]re| are| were)\b"
#: Occupations that serve customers: whoever speaks to them plays a customer.
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
#: A report about a role play, which does not begin one.
_TELLS = re.compile(
    r"\b(?:i|we|he|she|they|don['’]?t|do not|never|not|can['’]?t|to|no)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:want|need|like|ask(?:ing)?) (?:you|us) to \Z", re.IGNORECASE)
#: In characters: how near the beginning the request must be, and the length of the examined
#: context.
_FIRST, _NEAR = 600, 40


def begins_play(text: str) -> bool:
    """Whether a message requests, near its beginning, a role play or a story from here on."""
    for found in _PLAYS.finditer(text, 0, _FIRST):
        before = text[max(0, found.start() - _NEAR) : found.start()]
        if _ASKS.search(before) or _TELLS.search(before) is None:
            return True
    return False
