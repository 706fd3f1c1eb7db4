"""Records about other lines of an episode: variations and blunders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gymnast.runs.step_columns import StepLists

Level = Literal["inaccuracy", "mistake", "blunder"]
"""How bad an action was, by the share of the outcome scale that it lost."""
ActionValue = int | list[float]
"""An action: the index of a Discrete one, counted from 0, else one number per element."""
LineEnd = Literal["terminated", "truncated", "horizon"]


@dataclass(frozen=True)
class Variation:
    """The line after another action at a step of an episode, continued with the policy."""

    step: int
    """The step at which the line leaves the episode."""
    action: ActionValue
    """The action that was forced at that step."""
    label: str
    """Its name."""
    hold: int
    """Number of steps for which it was to be held; a line that ends earlier has fewer."""
    table: StepLists
    """The columns of the episode's table, for the steps from `step` on."""
    raw_return: float
    """Sum of the rewards of the whole line, those before `step` included; raw reward."""
    played_return: float
    """Return of the episode as it was played; raw reward."""
    ended: bool
    """Whether the line reached the end of an episode, not only the horizon."""
    outcome: LineEnd
    """The way in which the line ended."""
    seconds: float
    """Time that computing the line took."""


@dataclass(frozen=True)
class Blunder:
    """A step at which another action would have led to a higher return, if the policy had continued."""

    step: int
    """The step."""
    played: ActionValue
    """The action of the episode."""
    played_label: str
    """Its name."""
    better: ActionValue
    """The best action that was tried."""
    better_label: str
    """Its name."""
    lost: float
    """Return that the played action lost against the better one, as a share of the outcome scale."""
    lost_raw: float
    """The same in raw reward: the difference of the mean returns of both actions."""
    error_raw: float
    """Standard error of `lost_raw`; 0 if nothing is random."""
    continuations: int
    """Number of lines that were played after each of both actions."""
    level: Level
    """The level of `lost`."""


@dataclass(frozen=True)
class BlunderReport:
    """The blunders of an episode."""

    steps: int
    """Length of the episode."""
    steps_tested: int
    """Number of steps at which other actions were tried."""
    scale: float
    """Raw reward of the whole outcome scale."""
    scale_doc: str
    """A sentence that says how the scale was found."""
    random: bool
    """Whether the same actions lead to different episodes with other random numbers."""
    lines: int
    """Number of lines that were played."""
    env_steps: int
    """Number of env steps of all lines."""
    seconds: float
    """Time that the search took."""
    thresholds: dict[Level, float]
    """Lowest share of the outcome scale that each level has."""
    marks: list[Blunder] = field(default_factory=list[Blunder])
    """The steps with a level, worst first."""
