"""A check for foreign packages with the names of recollect's own."""

from __future__ import annotations

import os
from importlib.util import find_spec

_OWN = ("schemas", "projections", "streams")


def check_packages() -> None:
    """Check that recollect's packages are its own, before they are imported.

    Raises:
        ImportError: another package of the same name comes first; the message says where it is.
    """
    installed = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for name in _OWN:
        found = _place_of(name)
        own = os.path.join(installed, name)
        if found is None:
            raise ImportError(
                f"recollect's own package {name!r} is not at {own}: install recollect again"
            )
        if os.path.realpath(found) != os.path.realpath(own):
            raise ImportError(
                f"recollect needs its own package {name!r}, at {own}, and Python finds another at "
                f"{found}: rename that one, start from another directory, or install recollect "
                "into a virtual environment of its own and use its command line there"
            )


def _place_of(name: str) -> str | None:
    """Return the directory or file that an import would find, or None."""
    try:
        spec = find_spec(name)
    except ValueError:
        # It was not imported from a file.
        return f"no file: something made a module {name!r} while running"
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations))
    return spec.origin
