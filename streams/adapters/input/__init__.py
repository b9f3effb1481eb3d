"""What an adapter is handed: files and folders of an input, their lines and their JSON."""
