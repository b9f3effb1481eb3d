"""The Model Context Protocol: a zone's memory as tools, resources and a prompt for agents."""
