"""Zone names. A zone is one tenant's memory; its name is a Kafka key and a directory name."""

from __future__ import annotations

import re

from recollect.schemas.errors import InvalidInput

DEFAULT_ZONE = "default"
#: Between a zone's name and that of one of its branches: `ada@trial`.
BRANCH_MARK = "@"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def split_zone(name: str) -> tuple[str, str | None]:
    """Return the zone and the branch, or None, that a name such as `ada@trial` gives.

    Raises:
        InvalidInput: one of them is not a valid name.
    """
    if not isinstance(name, str):
        raise InvalidInput(f"zone is {type(name).__name__}; give its name")
    zone, mark, branch = name.partition(BRANCH_MARK)
    return check_zone(zone), check_branch(branch) if mark else None


def check_branch(name: str) -> str:
    """Return `name` if it is a valid name of a branch: the form of a zone's name.

    Raises:
        InvalidInput: it is not.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"branch {name[:80]!r}: use at most 64 letters, digits, '.', '_', '-', "
            "starting with a letter or digit"
        )
    return name


def check_zone(name: str) -> str:
    """Return `name` if it is a valid zone name.

    Raises:
        InvalidInput: the name is longer than 64 characters, has a character other than letters,
            digits, `.`, `_` and `-`, or does not start with a letter or digit.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"zone {name[:80]!r}: use at most 64 letters, digits, '.', '_', '-', "
            "starting with a letter or digit"
        )
    return name
