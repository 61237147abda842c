"""Kernels of the mechanisms that cut a table into classes: axes, parts and their labels."""
