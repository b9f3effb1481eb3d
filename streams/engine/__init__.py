"""The engine of a home: a node drives its zones, record by record, and commits their decisions."""
