"""What every row of a read model is: a struct whose fields are the columns of its table."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False, tag_field="row"):
    """Base of every row; `TABLE` is its table and `KEY` the columns that name it.

    A new kind of row is refused by name where it is not known. A new field of an old one is not:
    an older program would drop it unseen, so it raises `schemas.records.CHANGE_FORMAT`, and has a
    default, for the records that were written before.

    A key holds ids and numbers, never words: a delete names its row by it, and stays readable
    after what the row said was forgotten.
    """

    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]
