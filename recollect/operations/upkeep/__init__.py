"""Keeping a home in order: status, verify, rebuild, backups, promotion."""
