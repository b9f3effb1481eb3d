"""What the rooms ask of the process and the machine: file locks, usable cores, failpoints."""
