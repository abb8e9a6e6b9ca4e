"""The page: everything in one file that needs no network."""
