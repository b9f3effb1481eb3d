"""Utilities around the operating system: locks, cores, open files, HTTP clients, failpoints."""
