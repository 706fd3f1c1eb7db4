"""An alert: a problem that the rows of a run show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Alert:
    id: str
    """The key of a row and what is wrong with it: `policy/kl:high`."""
    level: Literal["error", "warning"]
    message: str
    advice: str
    first: int
    """Env steps at which it was first raised."""
    last: int
    """Env steps of the latest row for which it was active."""
    count: int
    """Number of rows for which it was active."""
    active: bool
    changes: Mapping[str, object] = field(default_factory=dict[str, object])
    """Advised settings: dotted config key -> value."""

    @property
    def key(self) -> str:
        """The key of the row that the alert is about: `id` without the last part, which names the problem."""
        return self.id.rpartition(":")[0]
