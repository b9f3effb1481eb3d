"""Reading files of JSON lines for a command: questions, pairs."""

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
Read = TypeVar("Read")

# A reason quotes the input.
_MAX_REASON_LENGTH = 500


def read_lines(path: Path, kind: type[Line], read: Callable[[Line], Read]) -> Iterator[Read]:
    """Yield what `read` makes of each line of a file; `-` is standard input.

    Raises:
        InvalidInput: a line is no `kind`, or `read` refuses it; the message says which.
    """
    decoder = msgspec.json.Decoder(kind)
    number = 0
    with InputFile(path).open() as file:
        try:
            for text in lines(file):
                number += 1
                if text.strip():
                    if len(text) > MAX_RECORD_BYTES:
                        raise InvalidInput(f"a line may have {MAX_RECORD_BYTES} bytes")
                    yield read(decoder.decode(text))
        except RecursionError:
            raise InvalidInput(f"{path}:{number}: nested too deeply") from None
        except DamagedInput as error:
            raise InvalidInput(f"{path}:{number}: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise InvalidInput(f"{path}:{number}: {str(error)[:_MAX_REASON_LENGTH]}") from None
