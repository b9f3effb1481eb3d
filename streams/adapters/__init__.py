"""Adapters: from what other programs export to drafts for the ledger."""

from streams.adapters.adapter import Source
from streams.adapters.formats import FORMATS, open_source
from streams.adapters.importing import Import, import_file
from streams.adapters.input_files import bytes_of
from streams.adapters.jsonobjects import JsonObjects

__all__ = [
    "FORMATS",
    "Import",
    "JsonObjects",
    "Source",
    "bytes_of",
    "import_file",
    "open_source",
]
