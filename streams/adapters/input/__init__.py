"""The input of adapters: files, folders and archives, their lines and their JSON."""
