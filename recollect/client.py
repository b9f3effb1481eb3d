"""The library: one home's memory, to write to, to ask, and to keep in order."""

from __future__ import annotations

from recollect.keeping import Keeping, ModelStatus, Status
from recollect.recalling import Recalling
from recollect.token import Token
from recollect.writing import Forgotten

__all__ = ["Forgotten", "Memory", "ModelStatus", "Status", "Token"]


class Memory(Keeping, Recalling):
    """One zone's memory. Open it with a home; close it, or use it as a context manager."""
