"""The results of evaluating a stored policy, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PolicyScore:
    """The score of a checkpoint on held-out episode seeds."""

    run: str
    """Id of the run."""
    env: str
    """Id of the environment."""
    checkpoint: int
    """Env steps of the checkpoint."""
    path: str
    """Directory of the checkpoint."""
    mean: float
    """Mean return."""
    low: float | None
    """Lower end of the 95 % interval of the mean; None for a single episode, which has no interval."""
    high: float | None
    """Upper end of the interval."""
    iqm: float
    """Interquartile mean of the returns."""
    episodes: int
    """Number of episodes in the score."""
    planned: int
    """Number of episodes that were planned."""
    missing: str
    """The reason why planned episodes are missing; empty if none is."""
    left_out: int
    """Number of episodes that the environment broke in every attempt."""
    unfinished: int
    """Number of episodes that had not ended at eval.timeout."""
    sound: bool
    """False if the missing episodes bias the score."""
    length: float
    """Mean length of the episodes, in steps."""
    threshold: float | None
    """The mean return from which the environment counts as solved; None if none is declared."""
    deterministic: bool
    """True if the most likely actions were played, False if they were sampled."""
    returns: tuple[float, ...]
    """Return of each episode."""
    lengths: tuple[int, ...]
    """Length of each episode, in steps."""
    seeds: tuple[int, ...]
    """Seed of each episode."""
    numbers: dict[str, tuple[float | None, ...]]
    """Metrics that the preset declares, from the last info of each episode: name -> one value per episode,
    None if its info has none. Empty if no episode has any."""


@dataclass(frozen=True)
class RoleScore:
    """The results of one role in the matches of a cast."""

    plays: str
    """The player: learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT]."""
    mean_return: float
    """Mean return per match, averaged over the role's agents."""
    win_rate: float | None
    """Share of the matches that it won, draws counted as half; None if matches have no outcome."""
    low: float | None
    """Lower end of the 95 % interval of the win rate."""
    high: float | None
    """Upper end of the interval."""


@dataclass(frozen=True)
class MatchScore:
    """The results of matches between the players of one cast, on held-out seeds."""

    run: str
    """Id of the run."""
    env: str
    """Id of the environment."""
    checkpoint: int
    """Env steps of the checkpoint that plays as `learner`."""
    episodes: int
    """Number of matches that finished."""
    planned: int
    """Number of matches that were planned."""
    missing: str
    """The reason why planned matches are missing; empty if none is."""
    deterministic: bool
    """True if policies played their most likely actions, False if they sampled."""
    roles: dict[str, RoleScore]
    """Role -> its player and results."""
    numbers: dict[str, float]
    """Metrics of the matches, such as `match/duration`."""
    outcomes: tuple[str, ...]
    """Outcome of each match; empty if it is unknown."""
    seeds: tuple[int, ...]
    """Seed of each match."""


@dataclass(frozen=True)
class EvaluationReport:
    """The result of `gymnast eval`."""

    score: PolicyScore | None
    """The score of the policy; None if the environment has several roles."""
    matches: tuple[MatchScore, ...] = field(default=())
    """The results per cast, if the environment has several roles."""
