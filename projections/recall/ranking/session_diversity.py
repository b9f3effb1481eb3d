"""Chats with an assistant: the turns of one chat say the same thing in many words.

A chat of ten long turns on one topic would fill an answer, and leave no room for what other sources
hold. So each further turn of a chat scores less than the one ranked before it. Chats between people
are left alone: there a turn is short, and its neighbours hold the rest of the answer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: The score of a turn is multiplied by this for each better turn of its chat. Compared with a score
#: 0.1 less for each, recall@10 is 0.3 points higher (two LifeBench people), and 1.6 points more of
#: the sessions that RealMem's prompts need are found (three personas). A subtraction gave many
#: turns of a long chat the score 0; a factor keeps their order.
FACTOR = np.float32(0.7)


def demote_further_turns(scores: Floats, places: Ints, *, index: Index) -> Floats:
    """Demote each turn of a chat with an assistant by the number of better turns of the chat.

    `scores` are best first. Returns the new scores, in the same order.
    """
    session = index.turns.session[places]
    order = np.argsort(session, kind="stable")
    sorted_ = session[order]
    better = np.empty(len(places), np.float32)
    better[order] = np.arange(len(places)) - np.searchsorted(sorted_, sorted_)
    better *= index.turns.in_assistant_chats[places]
    demoted: Floats = scores * FACTOR**better
    return demoted
