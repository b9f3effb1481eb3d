"""The extras of recollect: which packages each brings, and what to say where one is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from recollect.schemas.errors import MissingExtra

#: By extra of the command line, the modules that it brings; a test holds them to pyproject.toml.
MODULES: Mapping[str, tuple[str, ...]] = {
    "imports": ("ijson", "mailparser_reply"),
    "kafka": ("aiokafka", "faust"),
    "mcp": ("mcp",),
    "service": ("litestar", "prometheus_client", "uvicorn"),
}


def is_installed(extra: str) -> bool:
    """Return whether the packages of an extra of the command line are there, importing none."""
    return all(find_spec(module) is not None for module in MODULES[extra])


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Name the extra to install where an import inside fails.

    Raises:
        MissingExtra: a package is missing, or too old.
    """
    try:
        yield
    except MissingExtra:
        raise
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "recollect":
            raise
        raise MissingExtra(extra, str(error)) from error
