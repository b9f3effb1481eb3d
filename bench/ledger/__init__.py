"""How fast events become memory and files, what they take, and what faults cost."""
