"""What an operator is told when a backup can't be made, read or restored."""


class BackupError(Exception):
    """The sentence names the cause and, where there is one, the cure."""
