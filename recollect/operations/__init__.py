"""What can be done with a zone or a home, one package for each kind of operation."""
