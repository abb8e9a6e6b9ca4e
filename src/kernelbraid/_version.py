"""The version, which what is imported first needs, too."""

__version__ = "0.3.0"
