"""What happens: the ledger, the agents that read it, and the drivers that run them."""
