"""Whole clusters: several machines, the lines between them, the ensemble they share, and their clients."""
