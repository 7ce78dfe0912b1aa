"""The one error that bad input raises."""


class InputError(ValueError):
    """Something given to fairduel is wrong: one sentence says what, where, and what to do."""
