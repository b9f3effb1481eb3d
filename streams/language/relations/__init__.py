"""Relations between statements: correction, denial, cause, addition, repetition."""
