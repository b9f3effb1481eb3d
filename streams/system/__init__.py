"""What the other packages need of the process and the machine: file locks, cores, failpoints."""
