"""Whose turns a question asks for: the one who is named, or one side of a chat with an assistant.

In a chat with an assistant the user tells and the assistant answers at length: what is asked for
later is nearly always what the user said, unless the question is about what the assistant said.
That side is preferred as a named speaker is, by the same weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from projections.recall.question.entity_names import Named
from schemas.senders import is_assistant

Sender = tuple[str, str]

# "Can you tell me", "do you remember": said to whoever is asked, about nobody.
_POLITE = re.compile(
    r"\b(?:can|could|would|will)\s+you\b|\b(?:do|did)\s+you\s+(?:remember|recall|know|think|mind)\b",
    re.IGNORECASE,
)
# What remains of "you" is the one who said or did it: "did you suggest", "your advice".
_ADDRESSED = re.compile(r"\b(?:you|your|yours|you've|you'd)\b", re.IGNORECASE)


def asked_for(text: str, named: Sequence[Named], senders: Iterable[Sender]) -> set[Sender]:
    """Return whose turns a question asks for, as (platform, sender id); empty: anybody's.

    That is the one participant who is named; where none is and the senders are one user and an
    assistant: the assistant, where the question addresses it, else the user.
    """
    speakers = [item for item in named if item.senders]
    if speakers:
        return speakers[0].senders if len({item.entity.id for item in speakers}) == 1 else set()
    assistants: set[Sender] = set()
    users: set[Sender] = set()
    for sender in senders:
        (assistants if is_assistant(sender[1]) else users).add(sender)
        if len(users) > 1:
            return set()
    if not assistants:
        return set()
    return assistants if _ADDRESSED.search(_POLITE.sub(" ", text)) else users
