"""Prints labelled texts with personal data, and what Presidio finds in them.

PYTHON bench/encoder/labelled_texts.py COUNT SEED

PYTHON is any Python that has presidio-evaluator, whose templates and invented people give the
texts, and a spaCy pipeline for Presidio. Each line is a JSON object: `text`, and in `labels` and
`found` lists of [start, end, type]. Imports nothing of recollect.
"""

import contextlib
import json
import sys
from importlib import import_module
from typing import Any

#: Presidio's own evaluation ignores results with a lower score.
LEAST_SCORE = 0.4


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    # Imported by name, since they are not dependencies of recollect. Both print progress.
    with contextlib.redirect_stdout(sys.stderr):
        generator = import_module("presidio_evaluator.data_generator").PresidioSentenceFaker(
            locale="en_US", lower_case_ratio=0.05, random_seed=seed
        )
        samples = generator.generate_new_fake_sentences(count)
        analyzer = _analyzer()
    for sample in samples:
        # The templates write a line break as two characters.
        text = sample.full_text.replace("\\n", " \n")
        labels = [[it.start_position, it.end_position, it.entity_type] for it in sample.spans]
        found = analyzer.analyze(text, language="en", score_threshold=LEAST_SCORE)
        print(
            json.dumps(
                {
                    "text": text,
                    "labels": labels,
                    "found": [[it.start, it.end, it.entity_type] for it in found],
                }
            )
        )


def _analyzer() -> Any:
    """Return Presidio's analyzer as it is by default, with the spaCy pipeline that is installed."""
    (pipeline, *_) = import_module("spacy.util").get_installed_models()
    engines = import_module("presidio_analyzer.nlp_engine").NlpEngineProvider(
        nlp_configuration={
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": "en", "model_name": pipeline}],
        }
    )
    return import_module("presidio_analyzer").AnalyzerEngine(nlp_engine=engines.create_engine())


if __name__ == "__main__":
    main()
