"""What the mechanisms that change values row by row share."""
