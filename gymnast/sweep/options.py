"""The options of a search: how many trials, seeds and env steps it may use, and how it proposes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from gymnast.errors import UsageError

SamplerName = Literal["tpe", "surrogate", "gp", "cmaes", "random", "grid"]
SAMPLERS: tuple[str, ...] = get_args(SamplerName)
Mode = Literal["search", "pbt"]
"""search: trials from scratch, raced against each other; pbt: population-based training."""
PROCESS = "process"
"""Sampler that is a command of the user."""


@dataclass(frozen=True)
class SearchOptions:
    """The options of a study. They are stored with it, because resuming must decide by the same rules."""

    mode: Mode = "search"
    sampler: str = "tpe"
    """One of SAMPLERS, or `process`, which asks `proposer`."""
    proposer: str = ""
    """Name of the command in the settings file that proposes trials, for the sampler `process`."""
    trials: int = 40
    """Number of trials, the baseline not counted."""
    seeds: int = 3
    """Number of seeds that the best trials get; weak ones stop after one."""
    rungs: int = 1
    """Number of lengths at which trials are compared: the best third of each continues to the next. 1: all
    trials train to the end."""
    eta: int = 3
    """One of `eta` trials continues to the next rung, which is `eta` times as long."""
    total_env_steps: int | None = None
    """Env steps of all trials together; None: no limit."""
    minutes: float | None = None
    """Wall time of the study, the confirmation included; None: no limit."""
    run_minutes: float | None = None
    """Wall time of one run, unless the space sets `stop.minutes`; None: no limit."""
    seed: int = 0
    """Seed of the proposals, and first seed of the trials."""
    lookahead: int = 1
    """Number of units that may run at once, to which the rules of a study are fixed."""
    baseline: bool = True
    """Whether the target without any change is a trial too."""
    final_share: float = 0.35
    """Share of the env steps and minutes that is kept for further seeds of the best trials."""
    confirm: int = 1
    """Number of best trials that are trained again on fresh seeds, together with the baseline."""
    confirm_seeds: int = 5
    """Number of fresh seeds of each."""
    population: int = 8
    """Members of the population, in mode `pbt`."""
    generations: int = 8
    """Number of intervals after which weak members copy strong ones, in mode `pbt`."""

    def check(self) -> None:
        """Raises UsageError for options outside of their range."""
        least = {
            "trials": 1,
            "seeds": 1,
            "rungs": 1,
            "eta": 2,
            "lookahead": 1,
            "confirm": 0,
            "confirm_seeds": 0,
            "population": 2,
            "generations": 1,
        }
        for name, low in least.items():
            if getattr(self, name) < low:
                raise UsageError(f"search.{name} is {getattr(self, name)} (expected {low} or more)")
        if self.sampler not in (*SAMPLERS, PROCESS):
            raise UsageError(
                f"search.sampler {self.sampler} is unknown (expected one of {', '.join(SAMPLERS)})"
            )
        if (self.sampler == PROCESS) != bool(self.proposer):
            raise UsageError("a proposer and the sampler `process` belong together")
        if not 0 <= self.final_share < 1:
            raise UsageError(f"search.final_share is {self.final_share} (expected 0 to below 1)")
