"""The base class of every read-model row; a row's fields are its table's columns."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False, tag_field="row"):
    """Base class of rows. `TABLE`: its table. `KEY`: the columns of its primary key.

    An older program rejects a row type that it does not know, but silently drops a field that it
    does not know. So a new field needs a new `recollect.schemas.ledger.records.CHANGE_FORMAT`, and
    a default for older records.

    Keys contain ids and numbers only, never text, because deletes stay readable after an erasure.
    """

    TABLE: ClassVar[str]
    KEY: ClassVar[tuple[str, ...]]
