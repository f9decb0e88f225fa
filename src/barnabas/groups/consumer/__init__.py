"""Consumer groups (KIP-848): the broker assigns, and every member is reconciled at its own pace."""
