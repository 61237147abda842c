"""What a user can still learn from a release by data mining, and what an adversary can (Sramka et al. 2010)."""
