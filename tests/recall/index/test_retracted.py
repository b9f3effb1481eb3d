"""Offsets in a message from which words were retracted."""

from __future__ import annotations

import random

from recollect.projections.recall.index.retracted import span_after, without_spans


def test_what_is_left_is_found_where_it_stands_now() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        # No character occurs twice, in the text or in the mark.
        text = "".join(chr(0x4E00 + place) for place in range(draw.randrange(1, 40)))
        spans = [
            (start, draw.randrange(start + 1, len(text) + 1))
            for start in (draw.randrange(len(text)) for _ in range(draw.randrange(4)))
        ]
        marked, _ = without_spans(text, spans)
        cut = {at for first, last in spans for at in range(first, last)}
        for start in range(len(text)):
            for end in range(start + 1, min(start + 4, len(text) + 1)):
                found = span_after(start, end, spans)
                if cut.isdisjoint(range(start, end)):
                    assert found is not None
                    assert marked[slice(*found)] == text[start:end], (text, spans, start, end)
                else:
                    assert found is None
