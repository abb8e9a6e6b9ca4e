"""The one exception of the readers."""


class DataError(ValueError):
    """A file cannot be read as data; the message names the file, the place and the remedy in one sentence."""
