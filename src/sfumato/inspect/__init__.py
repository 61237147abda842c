"""Look at one table or one release: raw risk, leakage, queries, audit, subgroups, two releases side by side."""
