"""Which turns are personal: user turns of a session that is about the user.

Chats with an assistant are full of generic requests, and similarity to those is no evidence that
the memory holds anything relevant. A user turn is personal in a session without an assistant, and
in one where at least half of the user turns disclose something about the user. A turn that was
stored by `remember` is always personal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import Array
from recollect.schemas.events import Direction
from recollect.schemas.senders import is_assistant
from recollect.text.prompts import is_personal

TurnClasses = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

ASSISTANT, USER, SELF_DISCLOSING, REMEMBERED = range(4)
# The minimum share of self-disclosing turns among a session's user turns.
_MIN_SELF_DISCLOSING_SHARE = 0.5


def classify_turns(
    contents: Sequence[str],
    platforms: Sequence[str],
    senders: Sequence[str],
    kinds: Sequence[str],
    directions: Sequence[str | None],
) -> TurnClasses:
    """Return the class of each turn, given its text, platform, sender, kind and direction."""
    classes = (
        _classify(*turn)
        for turn in zip(contents, platforms, senders, kinds, directions, strict=True)
    )
    return np.fromiter(classes, np.int8, len(contents))


def personal_mask(classes: Array, session: Array) -> Mask:
    """Return which turns are personal, given the class and the session of each."""
    sessions = len(classes)
    assistant = np.bincount(session, classes == ASSISTANT, sessions)
    user = np.bincount(session, classes != ASSISTANT, sessions)
    disclosing = np.bincount(session, classes == SELF_DISCLOSING, sessions)
    is_about_user = (assistant == 0) | (disclosing >= _MIN_SELF_DISCLOSING_SHARE * user)
    found: Mask = (is_about_user[session] & (classes != ASSISTANT)) | (classes == REMEMBERED)
    return found


def _classify(content: str, platform: str, sender: str, kind: str, direction: str | None) -> int:
    if kind == "remember":
        return REMEMBERED
    known: Direction | None = direction if direction in ("in", "out") else None  # type: ignore[assignment]
    if is_assistant(sender, known, platform=platform):
        return ASSISTANT
    return SELF_DISCLOSING if is_personal(content) else USER
