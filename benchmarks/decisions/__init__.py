"""What `benchmarks/decision.py` is made of: made-up tables, measures, and challengers. Nothing here uses anything of the package."""
