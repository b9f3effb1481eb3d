"""How the encoder's precision affects recall, on the same conversations and questions."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.recall import locomo, weights
from recollect.home.home_directory import Home
from recollect.projections.recall import DEFAULT_PROFILE
from recollect.streams.encoder.catalog import Precision


def recalls(encoder: str, precisions: Iterable[Precision]) -> dict[Precision, float]:
    """Return recall@10 (0 to 100) by precision; {} if the conversations are missing."""
    if not (locomo.DATA.is_file() and locomo.SCORER.is_file()):
        return {}
    scorer = locomo.scorer_of(locomo.SCORER)
    samples = json.loads(locomo.DATA.read_text("utf-8"))
    questions = scorer.load_questions(locomo.DATA)
    by_precision: dict[Precision, float] = {}
    for precision in precisions:
        with tempfile.TemporaryDirectory(prefix="recollect-precision-") as scratch:
            home = Path(scratch) / "home"
            command = locomo.Command(home)
            command.run("init", "--encoder", encoder, "--precision", precision)
            for sample in samples:
                locomo.ingest(command, sample, Path(scratch))
            with weights.open_zones(Home(home), samples) as zones:
                ranked = zones.ranked(DEFAULT_PROFILE, locomo.RESULTS)
        by_precision[precision] = 100 * scorer.evaluate(ranked, questions)["overall"]["recall@10"]
    return by_precision
