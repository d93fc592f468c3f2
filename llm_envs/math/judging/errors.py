"""Why a text has no exact value here."""


class UnreadError(Exception):
    """The text is no expression that the exact reader knows; the library may know it."""


class TooLargeError(UnreadError):
    """The value is beyond the bounds of exact arithmetic, and would be beyond any library's, too."""


class AmbiguousError(UnreadError):
    """The text may mean several things, or nothing, and a library would pick one."""
