"""Operations on learning: trajectories and playbooks."""
