"""An alert: a problem that the rows of a run show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Alert:
    id: str
    """The key of a row and what is wrong with it: `policy/kl:high`."""
    level: Literal["error", "warning"]
    message: str
    advice: str
    """The likely cause, and which settings to change in which direction. Values are proposed by the doctor
    alone, which also knows the rest of the run and its preset."""
    first: int
    """Env steps at which it was first raised."""
    last: int
    """Env steps of the latest row for which it was active."""
    count: int
    """Number of rows for which it was active."""
    active: bool

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Alert:
        """Returns the alert that run.json or a checkpoint has as plain values."""
        known = {key: value for key, value in stored.items() if key != "changes"}
        if stored.get("changes"):  # stored before alerts left the values to the doctor
            known["advice"] = stored["advice"].partition(" Try ")[0]
        return cls(**known)

    @property
    def key(self) -> str:
        """The key of the row that the alert is about: `id` without the last part, which names the problem."""
        return self.id.rpartition(":")[0]


def split_scope(id: str) -> tuple[str, str]:
    """Splits the id of an alert into the scope of its metric, empty if it has none, and the rest:
    `seeker:policy/kl:high` -> `seeker`, `policy/kl:high`."""
    scope, _, rest = id.partition(":")
    return ("", id) if "/" in scope else (scope, rest)  # only names of metrics have a slash
