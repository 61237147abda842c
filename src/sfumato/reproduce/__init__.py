"""The papers' tables and figures side by side with ours, a file each."""
