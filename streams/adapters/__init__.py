"""Adapters: from what other programs export to drafts for the ledger."""

from streams.adapters.adapter import Rejection, Source
from streams.adapters.formats import FORMATS, open_source
from streams.adapters.importing import Import, import_file

__all__ = ["FORMATS", "Import", "Rejection", "Source", "import_file", "open_source"]
