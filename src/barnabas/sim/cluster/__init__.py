"""Whole clusters: several machines, the lines between them, the ensemble that they share, and their clients."""
