"""The rows themselves, one file per area of the broker."""
