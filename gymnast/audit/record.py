"""The result of a reward audit, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gymnast.rl.interval import Interval

Verdict = Literal["sound", "farmable", "outweighs", "potential", "unknown"]


@dataclass(frozen=True)
class TermTotal:
    """Statistics of one term's total per match and agent."""

    term: str
    """Name of the reward term."""
    mean: float
    """Mean over the matches."""
    std: float
    """Standard deviation over the matches."""
    share: float
    """Mean absolute value of this term divided by the sum of those of all terms."""
    won: float | None
    """Mean over matches that the role won; None if it won none."""
    lost: float | None
    """Mean over matches that another role won; None if there were none."""


@dataclass(frozen=True)
class CastTotals:
    """The matches of one cast, and the totals of the reward terms in them."""

    cast: dict[str, str]
    """Role -> player."""
    matches: int
    """Number of matches."""
    won: dict[str, int]
    """Role -> number of matches that it won."""
    roles: dict[str, tuple[TermTotal, ...]]
    """Totals of each term, by role, for the roles that the run's own policy played."""


@dataclass(frozen=True)
class FarmedTerm:
    """The test of one term for farming: the best result of a player that collects it without winning. The
    fields after `verdict` are None or empty if there were too few matches to compare."""

    role: str
    """The role that may farm the term."""
    term: str
    """Name of the reward term, or `all but the goal` for their sum."""
    verdict: Verdict
    """`farmable`, `sound`, or `unknown` with too few matches."""
    player: str = ""
    """The player that farmed the term best."""
    opponent: str = ""
    """The opponent of this player."""
    honest: str = ""
    """The player that tries to win, with whose wins it is compared."""
    gain: Interval | None = None
    """Total of the term in matches that the player did not win, minus that of honest winners."""
    goal: Interval | None = None
    """Total of the goal term of these winners, minus that of the player."""
    share: float | None = None
    """The gain divided by the goal."""
    low: float | None = None
    """Lower bound of the share."""


@dataclass(frozen=True)
class FarmingTest:
    """The test of all terms for farming."""

    matches: int
    """Number of matches of each player against each opponent."""
    threshold: float
    """The lower bound of the share from which a term counts as farmable."""
    terms: tuple[FarmedTerm, ...]
    """The result for each role and term."""


@dataclass(frozen=True)
class ShapingTotal:
    """The total of one shaping term per episode, with its weight."""

    role: str
    """Empty if there is only one agent."""
    term: str
    """Name of the shaping term."""
    first: float
    """Total in the first row."""
    last: float
    """Median over the last quarter of the rows."""
    usual: float
    """Median over all rows."""
    most: float
    """The total with the largest absolute value."""
    raw: tuple[float, float]
    """Lowest and highest raw return of an episode in the run."""
    potential: bool
    """Whether the term is potential-based."""
    share: float | None = None
    """The larger absolute value of `last` and `usual`, divided by the range of raw returns, or by their
    absolute value if they were all equal; None if all were 0."""
    verdict: Verdict = "unknown"
    """`outweighs` if the share is above 1, unless the term is a potential."""


@dataclass(frozen=True)
class TermFlag:
    """A term and the verdict on it."""

    role: str
    """Empty if there is only one agent."""
    term: str
    """Name of the term."""
    verdict: Verdict
    """The verdict on it."""


@dataclass(frozen=True)
class AuditReport:
    """The reward audit of a run."""

    run: str
    """Id of the run."""
    env: str
    """Id of the environment."""
    checkpoint: int | None
    """Env steps of the checkpoint that played the matches; None if there is only one agent."""
    learned: tuple[str, ...]
    """The roles that the checkpoint has a policy for; empty if there is only one agent."""
    deterministic: bool | None
    """True if the policies played their most likely actions; None if there is only one agent."""
    casts: tuple[CastTotals, ...]
    """Totals of the reward terms for each cast; empty if there is only one agent."""
    farming: FarmingTest | None
    """The test for farming; None if the environment has no players for it."""
    shaping: tuple[ShapingTotal, ...]
    """Totals of the shaping terms."""
    flagged: tuple[TermFlag, ...]
    """Terms that can be farmed or outweigh the raw return."""
    unknown: tuple[TermFlag, ...]
    """Terms that could not be judged."""
