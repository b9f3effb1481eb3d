"""The library: one home's memory, to write to, to ask, and to keep in order."""

from __future__ import annotations

from recollect.forgetting import Chosen, Forgetting, Forgotten
from recollect.keeping import Keeping, ModelStatus, Status
from recollect.recalling import Recalling
from recollect.token import Token

__all__ = ["Chosen", "Forgotten", "Memory", "ModelStatus", "Status", "Token"]


class Memory(Keeping, Forgetting, Recalling):
    """One zone's memory. Open it with a home; close it, or use it as a context manager."""
