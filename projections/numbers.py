"""Numbers as English writes them in words: read where dates are, and looked for where asked."""

from __future__ import annotations

_WRITTEN = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
#: Each word's number.
NUMBER_WORDS = {word: number for number, word in enumerate(_WRITTEN.split(), start=1)}
