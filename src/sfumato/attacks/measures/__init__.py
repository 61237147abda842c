"""Attacks as metrics: a file each, registered beside those of the room `metrics`."""
