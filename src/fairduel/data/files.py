"""Rankings from a file of any format that is known."""

from __future__ import annotations

import os
from pathlib import PurePath

from fairduel._files import AnyPath
from fairduel.data.kamishima import read_kamishima
from fairduel.data.preflib import KINDS, read_preflib
from fairduel.data.rankings import Rankings
from fairduel.data.source import unusable


def read_rankings(path: AnyPath) -> Rankings:
    """Read Kamishima's ``.order`` or PrefLib's ``.soc``, ``.soi``, ``.toc`` or ``.toi``."""
    suffix = PurePath(os.fspath(path)).suffix.removeprefix(".").lower()
    if suffix == "order":
        return read_kamishima(path)
    if suffix in KINDS:
        return read_preflib(path)
    raise unusable(
        path,
        f"rankings are in files that end in .order (Kamishima), .{', .'.join(KINDS)} (PrefLib): "
        "give one of these.",
    )
