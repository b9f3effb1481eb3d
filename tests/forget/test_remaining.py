"""What remains of forgotten facts, as the benchmark measures it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.ledger import remaining
from bench.ledger.remaining import made_facts, rouge_l


class TestSelectiveForgetting:
    """By the names of the seed's tests."""

    @pytest.mark.parametrize(
        ("fact", "text", "share"),
        [
            ("Ada lives in Turin.", "Ada lives in Turin.", 1.0),
            ("Ada lives in Turin.", "I heard that ada still lives somewhere in Turin", 1.0),
            ("Ada lives in Turin.", "Turin in lives Ada", 0.25),
            ("Ada lives in Turin.", "Bob lives in Oslo.", 0.5),
            ("Ada lives in Turin.", "", 0.0),
        ],
    )
    def test_rouge_l_is_the_share_of_words_in_order(
        self, fact: str, text: str, share: float
    ) -> None:
        assert rouge_l(fact, text) == share

    def test_a_forget_set_is_as_if_never_stored(self, tmp_path: Path) -> None:
        facts = made_facts()[:15]
        erased = {facts[0].person}
        kept = [fact for fact in facts if fact.person not in erased]
        scores = {}
        for stage, known, gone in (
            ("stored", facts, set()),
            ("erased", facts, erased),
            ("never", kept, set()),
        ):
            (tmp_path / stage).mkdir()
            remains = remaining._recollect(known, gone, facts, tmp_path / stage)
            scores[stage] = remaining._scores(remains, facts, erased)
            texts = " ".join(text for found in remains.texts for text in found)
            assert [fact.word in texts for fact in facts] == [
                stage == "stored" or fact.person not in erased for fact in facts
            ]
        assert scores["stored"] == (1.0, 1.0)
        assert scores["erased"] == scores["never"]
        assert scores["erased"][0] < 0.7
        assert scores["erased"][1] == 1.0
