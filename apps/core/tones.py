"""The tones of a status."""

GOOD, WAIT, BAD, INFO, QUIET = "good", "wait", "bad", "info", "quiet"
