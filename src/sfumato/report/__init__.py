"""Figures and documents drawn from a study. Numbers are never computed here."""
