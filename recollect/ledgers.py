"""Putting a home to work: its ledger (RECOLLECT_LEDGER), its encoder, its node."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.home import Home
from schemas.errors import InvalidInput
from streams.doors import VectorDoor
from streams.ledger import Ledger
from streams.ledger.embedded import EmbeddedLedger
from streams.node import Node


def open_node(home: Home) -> Node:
    """Open the node of a home; its encoder is loaded when the first text needs it."""
    pin = home.settings.encoder
    door = VectorDoor(pin.model if pin else None, pin.dimension if pin else 0, home.load_encoder)
    return Node(home.directory, open_ledger(home.directory), door)


def open_ledger(directory: Path) -> Ledger:
    """Open the ledger that RECOLLECT_LEDGER names; `embedded` (the default) lies in the home.

    Raises:
        InvalidInput: the setting names no ledger that this recollect knows.
    """
    setting = os.environ.get("RECOLLECT_LEDGER", "embedded")
    if setting == "embedded":
        return EmbeddedLedger(directory)
    raise InvalidInput(f"RECOLLECT_LEDGER={setting!r}: this recollect knows only 'embedded'")
