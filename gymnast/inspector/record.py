"""The records that describe a stored episode. They can be imported without gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.moments import KeyMoment
from gymnast.runs.episodes import EpisodeInfo
from gymnast.runs.step_columns import ColumnInfo, StepLists


@dataclass(frozen=True)
class ActionLabel:
    """An action of a Discrete action space, or an element of any other."""

    index: int
    """Index of the action or of the element, from 0."""
    name: str
    """Its label from the facts of the preset; without one, its number or its place in the action."""
    options: list[str]
    """Labels of the options of a discrete element, from the facts of the preset; empty without them."""


@dataclass(frozen=True)
class ObsComponent:
    """A number of the observation."""

    column: str
    """Name of its column in the table."""
    name: str
    """Its name."""
    low: float | None
    """Smallest possible value; None if there is no bound or it is not known."""
    high: float | None
    """Largest possible value; None if there is no bound or it is not known."""
    unit: str
    """Unit; empty if it has none or it is not known."""
    doc: str
    """A sentence that says where the range comes from."""


@dataclass(frozen=True)
class ReplayInfo:
    """The result of replaying the seed and the actions of an episode."""

    exact: bool
    """True if every reward and the end are as stored, bit for bit."""
    mismatch: int | None
    """Number of the first step that differs; frames and replayed observations end there. None: no step."""
    note: str
    """The reason why the replay is not exact; empty if it is."""


@dataclass(frozen=True)
class SeatInfo:
    """An agent of a match."""

    role: str
    """Its role."""
    seat: int
    """Its seat among those of the role, from 0."""
    player: str
    """The player that had it: `learner`, `step:N` (a past self), `scripted:NAME`, `random` or a reference to
    another run."""
    has_policy: bool
    """Whether its policy is stored, so that it has probabilities and values."""
    length: int
    """Number of steps until it was out of the match."""
    raw_return: float
    """Sum of its rewards."""
    outcome: str
    """`terminated` or `truncated`; empty if the replay does not show it."""


@dataclass(frozen=True)
class EpisodeInspection:
    """A stored episode with all its steps; of a match, those of one agent."""

    address: EpisodeAddress
    """The name of the episode; of a match, with the role and the seat of the agent."""
    info: EpisodeInfo
    """Return, length, seed and outcome."""
    env: str
    """Id of the environment."""
    roles: list[str]
    """The roles of a match; empty for an episode of a single agent."""
    seats: list[SeatInfo]
    """The agents of a match, by role and seat; empty for an episode of a single agent."""
    actions: list[ActionLabel]
    """The actions, with their labels."""
    observations: list[ObsComponent]
    """The components of the observation that are columns of the table, with their ranges."""
    has_image: bool
    """Whether the observation has an image."""
    columns: list[ColumnInfo]
    """The columns of the table, in its order, with their units and meanings."""
    table: StepLists
    """Column -> values, one per step; None where a number is not known."""
    table_note: str
    """The reason why columns are missing, e.g. because a checkpoint was removed; empty if none are."""
    moments: list[KeyMoment]
    """The steps to look at first, ordered by step."""
    replay: ReplayInfo
    """Whether the episode was replayed exactly."""
    policy_note: str
    """The reason why the policy that played the episode is not available; empty if it is. Of a match, also
    the reason why probabilities and values may not be those with which the agent played."""
    has_frames: bool
    """Whether the episode can be shown in pictures."""
    frames_note: str
    """The reason why there are no pictures; empty if there are."""
    fps: float
    """Frames per second at natural speed."""
    keys: dict[str, int | list[float]]
    """Key -> the action that it plays: an index, or one number per element."""


@dataclass(frozen=True)
class StepSlice:
    """Some steps of an episode."""

    table: StepLists
    """Column -> values, one per step; None where a number is not known."""
    total: int
    """Number of steps of the whole episode."""


@dataclass(frozen=True)
class CsvSize:
    """The size of a table that was written as CSV."""

    rows: int
    columns: int
