"""The base of every row of a read model: a struct whose fields are the columns of its table."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False, tag_field="row"):
    """Base of every row; `TABLE` is its table and `KEY` the columns of its key.

    An older program refuses a new kind of row by name. It would silently drop a new field of an old
    row. So a new field must raise `CHANGE_FORMAT` of `recollect.schemas.ledger.records`, and needs
    a default for older records.

    A key has ids and numbers, never words: a delete names its row by the key, and stays readable
    after the words of the row were forgotten.
    """

    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]
