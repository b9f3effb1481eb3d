"""Language model client: accounts, retries, rate limits and budgets."""
