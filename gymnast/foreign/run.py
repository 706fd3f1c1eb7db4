"""A run that another program made, with the names and units of gymnast."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gymnast.foreign.libraries import EVAL_RETURN, Library

Row = dict[str, float]
RETURN = "episode/return"


@dataclass(frozen=True)
class ForeignRun:
    """The rows and settings of a foreign run. Nothing in it is guessed: what the files lack is missing."""

    id: str
    """The name of its folder or file, or of the run in W&B."""
    path: str
    """The reference as the user typed it."""
    format: str
    """The file format in words."""
    files: tuple[str, ...]
    """Paths of the files that were read."""
    library: Library
    """The table of names that was used."""
    rows: tuple[Row, ...]
    """Key of gymnast -> value, ordered by env steps."""
    hyperparameters: Mapping[str, object]
    """Hyperparameters under the names of the library, as far as they are known."""
    settings: Mapping[str, object]
    """The same as settings of gymnast: dotted key -> value. Those without a setting are left out."""
    env: str
    """Id of the environment; empty if it is unknown."""
    threshold: float | None
    """Mean return from which the task counts as solved; None if it is unknown."""
    threshold_source: str
    """The origin of the threshold; empty without one."""
    n_actions: int | None
    """Number of actions of a Discrete action space; None if it is unknown, or another kind of space."""
    ended: bool | None
    """Whether training ended by itself; None if the files do not say."""
    problems: tuple[str, ...]
    """The damage of the files, as sentences."""
    notes: tuple[str, ...]
    """Remarks for the reader: names that are not used, facts that are unknown."""

    @property
    def env_steps(self) -> int:
        """Env steps of the last row."""
        return int(self.rows[-1]["clock/env_steps"])

    @property
    def seed(self) -> int | None:
        value = self.hyperparameters.get(self.library.seed)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def learning_settings(self) -> dict[str, object]:
        """The settings of the algorithm, and the number of env copies."""
        chosen = ("algo.", "env.n_envs")
        return {key: value for key, value in self.settings.items() if key.startswith(chosen)}

    @property
    def keys(self) -> set[str]:
        """The keys with a finite value in some row."""
        return {key for row in self.rows for key, value in row.items() if math.isfinite(value)}

    @property
    def is_evaluated(self) -> bool:
        """Whether the run has evaluations apart from training."""
        return EVAL_RETURN in self.keys

    def name_of(self, setting: str) -> str:
        """Returns the library's name of a setting; the setting if it has none."""
        library = self.library
        return library.hyperparameters.get(setting) or library.remedies.get(setting) or setting
