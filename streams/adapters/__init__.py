"""Adapters: convert exports of other programs to drafts for the ledger.

The formats are loaded on first use, because most processes never read an export.
"""

from typing import TYPE_CHECKING, Any

from recollect.streams.adapters.adapter import (
    ExportSource,
    RefusedExport,
    SourceLocation,
    drafts,
    records,
)
from recollect.streams.adapters.import_options import DATE_ORDERS, ChatMessage, ChatPlace, Options
from recollect.streams.adapters.importing import ImportCounts, Importer, import_source, reject
from recollect.streams.adapters.input.input_files import ByteCounter, InputEntry, InputFile
from recollect.streams.adapters.jsonobjects import JsonObjects, line_of

if TYPE_CHECKING:
    from recollect.streams.adapters.formats import (
        FORMATS,
        Export,
        Input,
        exports_of,
        followed_source,
        open_input,
        refusal,
        total_size,
    )

__all__ = [
    "DATE_ORDERS",
    "FORMATS",
    "ByteCounter",
    "ChatMessage",
    "ChatPlace",
    "Export",
    "ExportSource",
    "ImportCounts",
    "Importer",
    "Input",
    "InputEntry",
    "InputFile",
    "JsonObjects",
    "Options",
    "RefusedExport",
    "SourceLocation",
    "drafts",
    "exports_of",
    "followed_source",
    "import_source",
    "line_of",
    "open_input",
    "records",
    "refusal",
    "reject",
    "total_size",
]

_OF_FORMATS = frozenset(
    {"FORMATS", "Export", "Input", "exports_of", "followed_source", "open_input", "refusal"}
    | {"total_size"}
)

# Hidden from type checkers, which would accept any name otherwise.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _OF_FORMATS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from recollect.streams.adapters import formats

        return getattr(formats, name)
