"""What a command, the query service and many askers at once cost."""
