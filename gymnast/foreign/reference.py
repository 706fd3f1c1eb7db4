"""References to foreign runs: paths of files and folders, and `wandb:ENTITY/PROJECT/RUN`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError
from gymnast.foreign.wandb_online import PREFIX
from gymnast.runs import layout, unpack

_FILE = re.compile(r"(?i)(\.(csv|jsonl|wandb)$|\.tfevents\.)")


@dataclass(frozen=True)
class ForeignOptions:
    """Facts about a foreign run that the user gives, because its files may lack them."""

    env: str = ""
    """Id of its environment, for its threshold and its number of actions; empty: as the files say."""
    threshold: float | None = None
    """Mean return from which the task counts as solved; None: that of the environment's preset, if any."""
    column_map: str | None = None
    """A file that maps metrics to the names in the files (`foreign.column_map`); None: the known tables."""

    @property
    def are_given(self) -> bool:
        return self != ForeignOptions()


def is_foreign_name(text: str) -> bool:
    """Returns whether a text can only name a foreign run, by its form alone. Servers, whose requests must not
    reach outside of the runs directory, refuse these and everything else that could be a path."""
    return text.startswith(PREFIX) or bool(_FILE.search(text))


def names_foreign_run(ref: str) -> bool:
    """Returns whether `ref` names a foreign run: whether `foreign.open.open_foreign` returns one, or fails.
    Nothing is read, and the readers, which need NumPy, are not imported."""
    return ref.startswith(PREFIX) or foreign_path(ref) is not None


def foreign_path(ref: str) -> Path | None:
    """Returns the file or folder of a foreign run; None if `ref` names a run or a bundle of gymnast, or
    nothing that exists. A plain name is never a path: it names a run. Raises RunError for a file that does
    not exist."""
    if not (is_foreign_name(ref) or os.sep in ref or ref.startswith((".", "~"))):
        return None
    path = Path(ref).expanduser()
    try:
        exists = path.exists()
    except OSError:  # a name that is too long
        exists = False
    if not exists:
        if is_foreign_name(ref):
            raise RunError("does not exist", at=ref, fix="check the path")
        return None
    if ref.startswith("@") or layout.RUN.path(path).exists() or unpack.is_bundle_name(ref):
        return None
    return path
