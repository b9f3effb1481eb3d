"""Other programs' memory interfaces over a zone: each module needs the extra that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Say which extra to install where an import inside fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"this integration needs the extra {extra}: pip install 'recollect[{extra}]' ({error})"
        ) from error
