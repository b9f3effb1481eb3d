"""The labelled messages of public sets, whose texts are not in the repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from training.heads.head_corpora import lines
from training.labelled_corpus import PUBLIC, LabelledMessage, read


def public_messages(sets: Sequence[Path]) -> list[LabelledMessage]:
    """Return the labelled messages of the given sets, with their texts.

    A message's id is its set and its id in the set: "realmem/Ada:17". `sets` are JSON Lines whose
    objects are events, or have one as `event`.

    Raises:
        SystemExit: a text is not the one that was labelled.
    """
    texts: dict[str, str] = {}
    for path in sets:
        name = f"{path.parent.name}/{path.stem}"
        for row in lines(path):
            event = row.get("event", row)
            if "content" in event:
                texts[f"{name}:{event['id']}"] = event["content"]
    labelled = []
    for message in read(PUBLIC):
        text = texts.get(message.id)
        if text is None:
            continue
        if message.sentences and message.sentences[-1].end > len(text):
            raise SystemExit(f"the text of {message.id} is not the one that was labelled")
        labelled.append(msgspec.structs.replace(message, text=text))
    return labelled
