"""Parameters that several mechanisms share, and how their texts are read."""
