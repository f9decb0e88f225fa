"""Loads on the coordinators: groups, offset commits, transactions, and what a read_committed reader pays."""
