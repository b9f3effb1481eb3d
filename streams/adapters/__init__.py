"""Adapters: from what other programs export to drafts for the ledger."""

from streams.adapters.base import Rejection, Source
from streams.adapters.importing import Import, import_file
from streams.adapters.registry import FORMATS, open_source

__all__ = ["FORMATS", "Import", "Rejection", "Source", "import_file", "open_source"]
