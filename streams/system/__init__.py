"""Process and machine utilities: file locks, cores, failpoints."""
