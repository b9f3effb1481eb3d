"""The optional extras of recollect: their packages, and the error if one is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from recollect.schemas.errors import MissingExtra

#: The modules of each extra; a test compares them with pyproject.toml.
MODULES: Mapping[str, tuple[str, ...]] = {
    "imports": ("ijson", "mailparser_reply"),
    "kafka": ("aiokafka", "faust"),
    "mcp": ("mcp",),
    "service": ("litestar", "prometheus_client", "uvicorn"),
}


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra are installed, without importing them."""
    # `find_spec` fails on a loaded module without a spec, such as faust.
    return all(module in sys.modules or find_spec(module) is not None for module in MODULES[extra])


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Raise an error that names the extra if an import in the block fails.

    Raises:
        MissingExtra: a package is missing or too old.
    """
    try:
        yield
    except MissingExtra:
        raise
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "recollect":
            raise
        raise MissingExtra(extra, str(error)) from error
