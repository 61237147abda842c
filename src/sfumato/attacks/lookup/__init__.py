"""How people are looked up in a release: by the rows that cover what is known of them, or by the nearest ones."""
