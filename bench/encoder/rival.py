"""Runs sentence-transformers, in any Python that has it, on commands from standard input.

PYTHON bench/encoder/rival.py MODEL TEXTS VECTORS

MODEL is a directory, TEXTS a JSON list. Writes the vectors (n, dimension) to VECTORS in numpy's
format, and prints a line. Then, for each input line with a batch size, encodes all texts in batches
of that size and prints the elapsed and the processor seconds. Imports nothing of recollect.
"""

import importlib
import json
import sys
import time

import numpy


def main() -> None:
    model, texts_path, vectors_path = sys.argv[1:]
    with open(texts_path, encoding="utf-8") as file:
        texts = json.load(file)
    # Imported by name, since it is not a dependency of recollect.
    encoder = importlib.import_module("sentence_transformers").SentenceTransformer(
        model, device="cpu"
    )
    numpy.save(vectors_path, encoder.encode(texts))
    print("ready", flush=True)
    for line in sys.stdin:
        began, busy = time.perf_counter(), time.process_time()
        encoder.encode(texts, batch_size=int(line))
        print(time.perf_counter() - began, time.process_time() - busy, flush=True)


if __name__ == "__main__":
    main()
