"""The wire format, sans-IO: bytes in, messages out, and back."""
