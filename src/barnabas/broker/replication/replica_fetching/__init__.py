"""How this broker follows leaders: one line to each, every partition followed from it in one session."""
