"""What a sentence says of whom: subject, attribute, value."""
