"""Who asks: the library, the command line, and what else people and agents use."""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from recollect.shadowed import check_packages

if TYPE_CHECKING:
    from recollect.library import Recollect
    from recollect.library_async import AsyncRecollect, AsyncZone
    from recollect.library_zone import Zone
    from schemas.wire import Query

__all__ = ["AsyncRecollect", "AsyncZone", "Query", "Recollect", "Zone"]

# A query's products are small: a second BLAS thread costs more to wake than it saves, and ten
# times more where another process has the core. It must be said before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# onnxruntime counts its users and calls home, unless this is said before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

check_packages()

# A name is imported when it is asked for: the command line's help needs none of them.
_PLACES = {
    "AsyncRecollect": "recollect.library_async",
    "AsyncZone": "recollect.library_async",
    "Query": "schemas.wire",
    "Recollect": "recollect.library",
    "Zone": "recollect.library_zone",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
