"""Learning from experience: trajectories, reflections and playbooks."""
