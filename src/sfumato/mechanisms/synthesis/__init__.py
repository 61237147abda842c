"""Synthetic rows from noisy marginals: the model that explains them, its fit, the choice of marginals, and the rows drawn."""
