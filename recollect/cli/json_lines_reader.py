"""Reading JSON Lines files for commands: batches of queries, pairs of entities."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from recollect.cli.output import note
from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.adapters.input.input_files import DamagedInput, InputFile
from recollect.streams.adapters.input.text_lines import lines

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])

Line = TypeVar("Line", bound=msgspec.Struct)
Parsed = TypeVar("Parsed")

# Reasons quote the input, so they are truncated.
_MAX_REASON_LENGTH = 500


def read_lines(path: Path, kind: type[Line], parse: Callable[[Line], Parsed]) -> Iterator[Parsed]:
    """Yield `parse(line)` for each line of a file; `-` is standard input.

    A byte order mark at the beginning is ignored, and so are other fields of a line; a note on
    stderr names each of these once.

    Raises:
        InvalidInput: a line is not a `kind`, or `parse` rejects it; the message names the line.
    """
    decoder = msgspec.json.Decoder(kind)
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    number = 0
    with InputFile(path).open() as file:
        try:
            for text in lines(file):
                number += 1
                if number == 1:
                    text = text.removeprefix(BOM_UTF8)
                if text.strip():
                    if len(text) > MAX_RECORD_BYTES:
                        raise InvalidInput(f"the line is longer than {MAX_RECORD_BYTES} bytes")
                    line = decoder.decode(text)
                    for name in _members.decode(text).keys() - known:
                        known.add(name)
                        note(f"{path}:{number}: the field {name[:60]!r} is ignored")
                    yield parse(line)
        except RecursionError:
            raise InvalidInput(
                f"{path}:{number}: the JSON is nested too deeply; flatten it"
            ) from None
        except DamagedInput as error:
            raise InvalidInput(f"{path}:{number}: {error}") from None
        except msgspec.ValidationError as error:
            reason = decoder_message(error, kind)
            raise InvalidInput(f"{path}:{number}: {reason[:_MAX_REASON_LENGTH]}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise InvalidInput(f"{path}:{number}: {str(error)[:_MAX_REASON_LENGTH]}") from None
