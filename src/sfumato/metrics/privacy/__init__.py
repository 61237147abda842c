"""What a release gives away: one file per measure."""
