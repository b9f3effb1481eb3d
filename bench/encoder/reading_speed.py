"""The speed of reading messages: with the rules alone, and with the reader's heads.

python -m bench.encoder.reading_speed [--data FILE]

FILE holds conversations in LoCoMo's format; they are not part of this repository.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast
from unittest import mock

from bench.kit.encoders import MISSING, cache, cached_name
from bench.kit.report import Report, Target, count, markdown
from bench.recall import locomo
from bench.recall.locomo import DATA, Json
from recollect.operations.ingestion.file_conversation import FileConversation
from recollect.operations.ingestion.ingesting import open_inputs
from recollect.schemas.events import Draft
from recollect.streams.adapters import ByteCounter, Options, drafts, exports_of
from recollect.streams.agents.writer import message_analysis
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.engine.zone_driver import BATCH_SIZE
from recollect.streams.language.statements.statements import analyse
from recollect.streams.reader.head_file import OWN, read_heads
from recollect.streams.reader.reader_installing import install_reader
from recollect.streams.reader.text_reader import TextReader

#: The rate (turns/s) that the rules must reach on one core, and the heads' maximum share of the
#: encoding time.
MIN_TURNS, MAX_OVERHEAD = 2_000, 0.10
ROUNDS = 9
#: Only every n-th turn of the conversations is encoded and read.
_EVERY = 5


def run(data: Path = DATA) -> Report:
    """Measure the turns of the conversations in a file."""
    title = "Reading"
    about = (
        "LoCoMo's turns, each with the preceding messages, as the writer reads them: processor "
        f"time on one core, the best of {ROUNDS} rounds. `analyse` extracts what a message says; "
        "the writer also determines the participants and the retractions. The heads use vectors "
        "that the encoder computes anyway. Encoding alone, and encoding with reading, are timed "
        f"alternately on the same {BATCH_SIZE} texts, the batch size of a node."
    )
    columns = ["what", "turns", "turns/s", "on top of the encoding"]
    if not data.is_file():
        return Report(title, about, columns, [], skipped=f"{data.name} does not exist")
    talks = [_drafts(talk) for talk in json.loads(data.read_text("utf-8"))]
    turns = sum(map(len, talks))
    calls = _calls_of_analyse(talks)
    writes = turns / _fastest(lambda: _write(talks))
    asked = [(call.args, call.kwargs) for call in calls]
    analyses = len(calls) / _fastest(lambda: [analyse(*args, **more) for args, more in asked])
    rows = [
        ["the writer, rules alone", count(turns), count(writes), ""],
        ["`analyse`, rules alone", count(len(calls)), count(analyses), ""],
    ]
    targets = [
        Target(
            f"`analyse` reads at least {MIN_TURNS:,} turns a second",
            count(analyses),
            analyses >= MIN_TURNS,
        )
    ]
    if cached_name() != MINILM.name:
        return Report(title, about, columns, rows, targets, skipped=f"the heads: {MISSING}")
    pin = install_reader(None, cache=cache())
    encoder = cast(OnnxEncoder, load(pin.encoder, cache=cache(), workers=1))
    reader = TextReader(encoder, read_heads(OWN, pin.heads))
    called_texts = (call.args[0].text for call in calls)
    texts = [text for text in called_texts if text.strip()][::_EVERY]
    try:
        both = [
            _alternating_times(encoder, reader, texts[start : start + BATCH_SIZE])
            for start in range(0, len(texts), BATCH_SIZE)
        ]
    finally:
        encoder.close()
    encoded, read = map(sum, zip(*both, strict=True))
    on_top = read / encoded - 1
    rows += [
        ["encoded", count(len(texts)), count(len(texts) / encoded), ""],
        ["encoded and read", count(len(texts)), count(len(texts) / read), f"{on_top:.0%}"],
    ]
    targets.append(
        Target(
            f"the heads take at most {MAX_OVERHEAD:.0%} on top of the encoding",
            f"{on_top:.0%}",
            on_top <= MAX_OVERHEAD,
        )
    )
    return Report(title, about, columns, rows, targets)


def _drafts(talk: Json) -> list[Draft]:
    with tempfile.TemporaryDirectory(prefix="recollect-reading-") as scratch:
        export = Path(scratch) / "talk.jsonl"
        export.write_text("".join(json.dumps(each) + "\n" for each in locomo.events(talk)))
        inputs = open_inputs((export,), "auto", Options.of(None, None), ByteCounter())
        found = [each for one in exports_of(inputs) for _, each in drafts(one.source)]
    return [each for each in found if isinstance(each, Draft)]


def _write(talks: Sequence[Sequence[Draft]]) -> None:
    """Run the writer over conversations."""
    writer = RuleWriter()
    for number, talk in enumerate(talks):
        thread = FileConversation(f"talk-{number}")
        for draft in talk:
            event = thread.next_event(draft)
            writer.extract(event, thread)
            thread.add(event)


def _calls_of_analyse(talks: Sequence[Sequence[Draft]]) -> list[mock._Call]:
    """Return the arguments with which the writer calls `analyse` for these conversations."""
    with mock.patch.object(message_analysis, "analyse", wraps=analyse) as asked:
        _write(talks)
    return list(asked.call_args_list)


def _alternating_times(
    encoder: OnnxEncoder, reader: TextReader, texts: Sequence[str]
) -> tuple[float, float]:
    """Return the best times of encoding texts, and of encoding and reading them, in seconds."""
    # Alternating runs are slowed down equally by other programs; some short runs are undisturbed.
    rounds = [
        (_seconds(lambda: encoder.encode_tokens(texts)), _seconds(lambda: reader.read(texts)))
        for _ in range(ROUNDS)
    ]
    encoded, read = (min(times) for times in zip(*rounds, strict=True))
    return encoded, read


def _fastest(work: Callable[[], object]) -> float:
    return min(_seconds(work) for _ in range(ROUNDS))


def _seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    print(markdown(run(parser.parse_args(arguments).data)))


if __name__ == "__main__":
    main()
