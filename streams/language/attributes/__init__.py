"""Extraction of attributes: which value a sentence gives to which attribute of whom."""
