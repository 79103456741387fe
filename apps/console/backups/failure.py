"""Messages to an operator when a backup can't be made, read or restored."""


class BackupError(Exception):
    """The sentence names the cause and, where there is one, the cure."""
