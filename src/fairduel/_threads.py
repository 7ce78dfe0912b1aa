"""One thread for matrices, whose last digits would depend on the number of threads.

On a busy machine several threads would also wait for each other most of the time.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Let numpy and scipy take one thread for matrices while this is entered.

    That holds for the whole process, and as long as the thread that entered first is inside: who
    runs several threads enters before they start.
    """
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return limit


@functools.cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401 - a library is found only once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
