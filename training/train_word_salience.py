"""Train salience by words alone: python -m training.train_word_salience.

For homes without a reader. Writes `word_salience.bin` beside the module of this name, from the
train split of the labelled corpus and the plain sentences of this repository. The same data give
the same bytes on the same machine.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from recollect.streams.language.statements.word_salience import FILE
from training.heads.head_corpora import lines
from training.heads.writer_heads import word_weights
from training.labelled_corpus import TRUSTED, WORTH_KEEPING, messages, sources

PLAIN = Path(__file__).parent / "corpora" / "sentences" / "train.jsonl"


def clauses() -> list[tuple[str, bool]]:
    """Return sentences, and whether each is worth remembering."""
    texts = [(row["text"], bool(row["keep"])) for row in lines(PLAIN)]
    for source in sources("train"):
        for message in messages(source.name):
            if message.sender != "assistant":
                texts += [
                    (
                        message.text[sentence.start : sentence.end],
                        sentence.worth >= WORTH_KEEPING and sentence.voice in TRUSTED,
                    )
                    for sentence in message.sentences
                ]
    return texts


def main() -> None:
    """Train, and write the file."""
    content = word_weights(clauses())
    FILE.write_bytes(content)
    print(f"{FILE}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")


if __name__ == "__main__":
    main()
