"""The memory endpoints of Nexus, over recollect's stored memories."""
