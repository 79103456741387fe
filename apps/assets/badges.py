"""What the states of a store's asset are called, and in which tone."""

from apps.core.badges import BAD, GOOD, WAIT, Badges

# noun -> status -> (tone, words)
BADGES: Badges = {
    "accepted_asset": {
        "accepted": (GOOD, "In use"),
        "pending": (WAIT, "Stopped for review"),
        "stopped": (BAD, "Kept stopped"),
    },
}
