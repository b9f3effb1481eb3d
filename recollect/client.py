"""The library: one home's memory, to write to, to ask, and to keep in order."""

from __future__ import annotations

from recollect.forgetting import Chosen, Forgetting, Forgotten
from recollect.keeping import Keeping, ModelStatus, Status
from recollect.recalling import Recalling
from recollect.token import Token

__all__ = ["Chosen", "Forgotten", "Memory", "ModelStatus", "Status", "Token"]


class Memory(Keeping, Forgetting, Recalling):
    """One zone's memory. Open it with a home; close it, or use it as a context manager."""

    def erase(self, chosen: Chosen) -> Forgotten:
        """Erase what was chosen, as `Forgetting.erase` says.

        What is kept in memory to answer from loses it too, so that no question waits for that.
        """
        forgotten = super().erase(chosen)
        self.follow_files()
        return forgotten
