"""Other programs' memory interfaces over a zone: each module needs the extra that it names."""
