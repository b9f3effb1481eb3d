"""The words of a text: where they are cut, how they look, and their vectors of the encoder."""
