"""Arrays of the index: kept in files, memory-mapped, grown at the end, and compared."""
