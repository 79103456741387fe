"""The tones of a status."""

GOOD = "good"
WAIT = "wait"
BAD = "bad"
INFO = "info"
QUIET = "quiet"
