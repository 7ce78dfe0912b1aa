"""The one error that bad input raises."""


class InputError(ValueError):
    """Bad input to fairduel: one sentence says what is wrong, where, and what to do."""
