"""What the mechanisms with a differential privacy promise share: budget, noise and how statistics are released."""
