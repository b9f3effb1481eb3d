"""What the benchmarks share: made-up events, homes and zones of any size, reports."""
