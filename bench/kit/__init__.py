"""Shared by the benchmarks: generated events, homes and zones of any size, reports."""
