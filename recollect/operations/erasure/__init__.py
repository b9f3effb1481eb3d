"""Forgetting: finding the records, and erasing them everywhere."""
