"""Look closer at one release, from one side at a time."""
