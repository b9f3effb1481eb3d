"""Reading JSON Lines files for commands: batches of queries, pairs of entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.adapters.input.input_files import DamagedInput, InputFile
from recollect.streams.adapters.input.text_lines import lines

Line = TypeVar("Line", bound=msgspec.Struct)
Parsed = TypeVar("Parsed")

# Reasons quote the input, so they are truncated.
_MAX_REASON_LENGTH = 500


def read_lines(path: Path, kind: type[Line], parse: Callable[[Line], Parsed]) -> Iterator[Parsed]:
    """Yield `parse(line)` for each line of a file; `-` is standard input.

    Raises:
        InvalidInput: a line is not a `kind`, or `parse` rejects it; the message names the line.
    """
    decoder = msgspec.json.Decoder(kind)
    number = 0
    with InputFile(path).open() as file:
        try:
            for text in lines(file):
                number += 1
                if text.strip():
                    if len(text) > MAX_RECORD_BYTES:
                        raise InvalidInput(f"the line is longer than {MAX_RECORD_BYTES} bytes")
                    yield parse(decoder.decode(text))
        except RecursionError:
            raise InvalidInput(
                f"{path}:{number}: the JSON is nested too deeply; flatten it"
            ) from None
        except DamagedInput as error:
            raise InvalidInput(f"{path}:{number}: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise InvalidInput(f"{path}:{number}: {str(error)[:_MAX_REASON_LENGTH]}") from None
