"""The steps of the owner's way, a file each: what a page shows, and what it takes."""
