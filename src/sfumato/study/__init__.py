"""Candidates times metrics: the risk-utility map, its frontier and knee, and what they advise."""
