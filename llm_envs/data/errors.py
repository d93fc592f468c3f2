"""What can be wrong with a data set."""


class DataError(RuntimeError):
    """A data set that can't be had, or in which nothing can be used. The message says why, and what to do."""


class RowError(ValueError):
    """Why a row can't be used, in words. The loader adds which row it is, lists it, and leaves it out."""
