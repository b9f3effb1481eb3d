"""Find the speakers that a question asks about: a named speaker, or one side of a chat.

In a chat with an assistant, the user states the facts and the assistant answers at length. Nearly
all questions are about what the user wrote, unless they address the assistant ("did you suggest").
The side that a question is about gets the same weight as a named speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from recollect.projections.recall.question.entity_names import NamedEntity
from recollect.schemas.senders import is_assistant

Sender = tuple[str, str]

# "Can you tell me" and "do you remember" only address the one who answers.
_POLITE = re.compile(
    r"\b(?:can|could|would|will)\s+you\b|\b(?:do|did)\s+you\s+(?:remember|recall|know|think|mind)\b",
    re.IGNORECASE,
)
# Any other "you" refers to the assistant: "did you suggest", "your advice".
_ADDRESSED = re.compile(r"\b(?:you|your|yours|you've|you'd)\b", re.IGNORECASE)


def speakers_asked_for(
    text: str, named: Sequence[NamedEntity], senders: Iterable[Sender]
) -> set[Sender]:
    """Return the senders that a question asks about, as (platform, sender id); empty means any.

    If it names exactly one participant, it asks about that one. If it names none, and the senders
    are one user and assistants, it asks about the assistants if it addresses them, otherwise about
    the user.
    """
    speakers = [item for item in named if item.senders]
    if speakers:
        return speakers[0].senders if len({item.entity.id for item in speakers}) == 1 else set()
    assistants: set[Sender] = set()
    users: set[Sender] = set()
    for sender in senders:
        (assistants if is_assistant(sender[1], platform=sender[0]) else users).add(sender)
        if len(users) > 1:
            return set()
    if not assistants:
        return set()
    return assistants if _ADDRESSED.search(_POLITE.sub(" ", text)) else users
