"""Which turns are personal: what a user says in a session that is about them.

A memory of talks with an assistant is full of what anybody might ask; what is near to that says
nothing of whether the memory has anything on a prompt. Marked are the turns of users; a session
counts as personal where half of them tell of who says them, where no assistant takes part, and
what was asked to be remembered always does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import Array
from recollect.schemas.senders import is_assistant
from recollect.text.prompts import is_personal

Marks = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

ASSISTANT, USER, SELF_DISCLOSING, REMEMBERED = range(4)
# The share of a session's user turns that tell of the user.
_MIN_SELF_DISCLOSING_SHARE = 0.5


def classify_turns(
    contents: Sequence[str],
    senders: Sequence[str],
    kinds: Sequence[str],
    directions: Sequence[str | None],
) -> Marks:
    """Return the mark of each turn, given its text, sender, kind and direction."""
    found = (
        _classify(content, sender, kind, direction)
        for content, sender, kind, direction in zip(
            contents, senders, kinds, directions, strict=True
        )
    )
    return np.fromiter(found, np.int8, len(contents))


def personal_mask(marks: Array, session: Array) -> Mask:
    """Return which turns are personal, given the mark and the session of each."""
    sessions = len(marks)
    assistants = np.bincount(session, marks == ASSISTANT, sessions)
    users = np.bincount(session, marks != ASSISTANT, sessions)
    own = np.bincount(session, marks == SELF_DISCLOSING, sessions)
    about_them = (assistants == 0) | (own >= _MIN_SELF_DISCLOSING_SHARE * users)
    found: Mask = (about_them[session] & (marks != ASSISTANT)) | (marks == REMEMBERED)
    return found


def _classify(content: str, sender: str, kind: str, direction: str | None) -> int:
    if kind == "remember":
        return REMEMBERED
    if is_assistant(sender, "out" if direction == "out" else None):
        return ASSISTANT
    return SELF_DISCLOSING if is_personal(content) else USER
