"""Who asks: the client, the command line, and what else people and agents use."""

from recollect.client import Memory
from recollect.home import Home

__all__ = ["Home", "Memory"]
