"""Who asks: the library, the command line, and what else people and agents use."""

import os

# A query's products are small: a second BLAS thread costs more to wake than it saves, and ten
# times more where another process has the core. It must be said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from recollect.library import Recollect
from recollect.library_zone import Zone
from schemas.wire import Query

__all__ = ["Query", "Recollect", "Zone"]
