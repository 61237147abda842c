"""The nouns: Table, Roles, Hierarchy, Counts, Release, Score, Metric, Requirement and the errors. Imports nothing of ours."""
