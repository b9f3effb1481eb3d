"""What one statement does to another: corrects, denies, causes, repeats."""
