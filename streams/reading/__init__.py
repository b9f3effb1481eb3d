"""Reading a zone's records: accepted events and changes, single records, times, and heads."""
