"""The operations on zones and homes, one package for each kind."""
