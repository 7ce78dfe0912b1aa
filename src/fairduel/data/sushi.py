"""The Sushi preference data (Kamishima, KDD 2003), which users have to download themselves.

5000 people ranked ten kinds of sushi. The data are free for research, and their terms forbid
passing them on: so neither they nor anything they could be rebuilt from is part of this
package. Cite: T. Kamishima, "Nantonac Collaborative Filtering: Recommendation Based on Order
Responses", KDD 2003, pages 583-588.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from fairduel._files import AnyPath, read_whole
from fairduel.data.kamishima import read_kamishima
from fairduel.data.rankings import Rankings
from fairduel.data.source import unusable
from fairduel.errors import InputError

SOURCE = "https://www.kamishima.net/sushi/"
FILE = "sushi3a.5000.10.order"
SHA256 = "c56da325c0f58f9a38bafc650ed699b48dd2fb9f6ad64ba61ffc288d1ae4cc24"
FOLDER_VARIABLE = "FAIRDUEL_DATA"

# ``Clusters.digest`` of the paper's groups, by number of users. A machine that rounds differently
# may find other groups, and with them other results.
LABELS_SHA256 = {
    5: "44e3e2b0c798a18663c9052f723e61865cf07b598a8d92d4794004633b2a87ce",
    10: "39ccbf4b38280db4b16a2365a5732347043a6ca4fc4fd60de67fe65dc4e7c861",
}

# The items of set A by their number in the file (sushi3.idata numbers them differently).
ITEMS = (
    "ebi",
    "anago",
    "maguro",
    "ika",
    "uni",
    "sake",
    "tamago",
    "toro",
    "tekka-maki",
    "kappa-maki",
)


class DataMissing(InputError):
    """Data that have to be downloaded first are missing; the message says from where."""


def load_sushi(path: AnyPath | None = None) -> Rankings:
    """Load the rankings of 5000 people, in the file's order; ``load_sushi().people`` is 5000.

    ``path`` is the file or its folder; without it see ``find_sushi``. The file must be the
    original, byte for byte.
    """
    found = find_sushi(path)
    digest = hashlib.sha256(read_whole(found)).hexdigest()
    if digest != SHA256:
        raise unusable(
            found,
            f"it is not the original Sushi file (its sha256 is {digest} and not {SHA256}): "
            f"get it again from {SOURCE}.",
        )
    return read_kamishima(found, ITEMS)


def find_sushi(path: AnyPath | None = None) -> Path:
    """Return the path of the Sushi file; raise ``DataMissing`` if it is not found.

    It is the ``path`` given (the file, or its folder), else in the folder that the environment
    variable FAIRDUEL_DATA names, else in ``user_folder()``.
    """
    places = _places() if path is None else [Path(path)]
    for place in places:
        for file in (place, place / FILE):
            if os.path.isfile(file):
                return file
    looked = " or ".join(repr(str(place)) for place in places)
    raise DataMissing(
        f"the Sushi data are not in {looked}: download sushi3-2016.zip from {SOURCE} (free for "
        f"research, not to be passed on), unpack it, and put its {FILE} into "
        f"{str(user_folder())!r}, or into any folder and name that with --data or in "
        f"{FOLDER_VARIABLE}."
    )


def user_folder() -> Path:
    """Return the folder for a person's own fairduel data on this system."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        folder = os.path.join(home, "Library", "Application Support")
    else:
        folder = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return Path(folder) / "fairduel"


def _places() -> list[Path]:
    named = os.environ.get(FOLDER_VARIABLE)
    return [Path(named), user_folder()] if named else [user_folder()]
