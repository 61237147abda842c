"""The generalization lattice, optimal search in it, and optimal cut points of an ordered attribute."""
