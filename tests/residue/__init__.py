"""The residue scan: what was forgotten is looked for in the bytes of every file."""
