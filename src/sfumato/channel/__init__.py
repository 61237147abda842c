"""A mechanism as a noisy channel: exact adversaries, worst priors, capacities, and mechanisms made to measure (Askari et al. 2012)."""
