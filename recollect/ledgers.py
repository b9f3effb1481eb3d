"""Which ledger a home uses: RECOLLECT_LEDGER."""

from __future__ import annotations

import os
from pathlib import Path

from schemas.errors import InvalidInput
from streams.ledger import Ledger
from streams.ledger.embedded import EmbeddedLedger


def open_ledger(directory: Path) -> Ledger:
    """Open the ledger that RECOLLECT_LEDGER names; `embedded` (the default) lies in the home.

    Raises:
        InvalidInput: the setting names no ledger that this recollect knows.
    """
    setting = os.environ.get("RECOLLECT_LEDGER", "embedded")
    if setting == "embedded":
        return EmbeddedLedger(directory)
    raise InvalidInput(f"RECOLLECT_LEDGER={setting!r}: this recollect knows only 'embedded'")
