"""What a release is still worth: one file per measure."""
