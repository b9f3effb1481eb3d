"""All that is fuzzed."""

from __future__ import annotations

from tests.fuzz.asking import BATCHES, COMMANDS, LIBRARY
from tests.fuzz.codec import CODEC
from tests.fuzz.input_edge import INBOX, LINES, REMEMBERED
from tests.fuzz.readers import READERS

TARGETS = (LINES, INBOX, REMEMBERED, LIBRARY, COMMANDS, BATCHES, CODEC, READERS)
