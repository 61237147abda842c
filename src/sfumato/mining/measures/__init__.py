"""Metrics that mine: a file each, registered beside those of the room `metrics`."""
