"""The one exception of experiments."""


class ProtocolError(Exception):
    """The file of an experiment, or one that it names, is wrong; the text says where and what would be right."""
