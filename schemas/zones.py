"""Zone names. A zone is one tenant's memory; its name is a Kafka key and a directory name."""

from __future__ import annotations

import re

from recollect.schemas.errors import InvalidInput

DEFAULT_ZONE = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


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
