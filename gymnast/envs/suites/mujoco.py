"""Sends MuJoCo's warnings to the log instead of the terminal and a file in the working directory."""

from __future__ import annotations

import logging
from typing import Any

import mujoco

_IGNORED = "is deprecated"
"""Warnings about models that Gymnasium ships are dropped: the user cannot fix those."""


def _warn(text: str) -> None:
    if _IGNORED not in text:
        logging.getLogger("gymnast.envs").warning("MuJoCo: %s", text)


_mujoco: Any = mujoco  # it has no types for what it compiles
_mujoco.set_mju_user_warning(_warn)
