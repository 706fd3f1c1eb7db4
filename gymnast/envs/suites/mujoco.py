"""MuJoCo's warnings go to the log, not to the terminal and a file in the working directory."""

from __future__ import annotations

import logging
from typing import Any

import mujoco

_OF_NO_USE = "is deprecated"
"""Of a model that Gymnasium ships: nothing that whoever trains could mend."""


def _warn(text: str) -> None:
    if _OF_NO_USE not in text:
        logging.getLogger("gymnast.envs").warning("MuJoCo: %s", text)


_mujoco: Any = mujoco  # it has no types for what it compiles
_mujoco.set_mju_user_warning(_warn)
