"""The column map (`--map FILE`): which column of a foreign file is which metric, and what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gymnast.config.problems import InvalidConfig, explain_errors
from gymnast.config.source import Source
from gymnast.errors import UsageError
from gymnast.foreign.log import ENV_STEPS
from gymnast.metrics.specs import METRICS, generic_name, split_key
from gymnast.text.suggestions import did_you_mean

OUTCOME, WON = "match/outcome", "match/won"
MATCH_COLUMNS = {
    OUTCOME: "the outcome of the match, as text; empty if it is unknown",
    WON: "1 if the role won the match, 0 if it lost, 0.5 for a draw; empty if the outcome is unknown",
}
"""Columns of files with a row per match, which are no metrics of gymnast, and their meaning."""


class FileColumn(BaseModel):
    """A value that differs between the rows of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    column: str
    """The column of the file that has it."""


class ColumnMap(BaseModel):
    """The content of a column map."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: dict[str, str]
    """Metric with its scopes, as in `gymnast rows` -> column of the file. `clock/env_steps` is required."""
    rows: Literal["updates", "matches"] = "updates"
    """Whether a row has the metrics of an update, or is one match or episode. The values of matches are
    averaged over the last `window` ones."""
    window: int = Field(default=100, ge=1)
    """Number of matches of a rolling mean or win rate; only for rows that are matches."""
    approach: str | FileColumn = "foreign"
    """The approach of the runs."""
    run: str | FileColumn = ""
    """The id of the run, or the column that separates the runs of a file; by default the name of the
    file."""
    seed: int | FileColumn | None = None
    """The seed of the run."""
    env: str = ""
    """The environment."""
    algo: str = ""
    """The algorithm; `ppo` makes its diagnostics required."""
    roles: tuple[str, ...] = ()
    """The roles that learn; empty for a single agent, or if `role` says them."""
    role: str | FileColumn = ""
    """The role that metrics without a role belong to, if the file is about one role, or the column that has
    it, if every row is about one role."""

    @field_validator("columns")
    @classmethod
    def _known_metrics(cls, columns: dict[str, str]) -> dict[str, str]:
        if ENV_STEPS not in columns:
            raise ValueError(f"has no {ENV_STEPS} (expected `{ENV_STEPS}: COLUMN`)")
        for key in columns:
            name = split_key(key)[1]
            known = [*METRICS, *MATCH_COLUMNS]
            if name not in known and generic_name(name) == name and not name.startswith("env/"):
                raise ValueError(f"{key!r} is not a metric{did_you_mean(name, known)}")
        return columns

    def problems(self) -> list[str]:
        """Returns what contradicts itself, each as a message."""
        if isinstance(self.role, FileColumn):
            one_per_match = self.rows == "matches"
            return ["a file with a row per match cannot have a column `role`"] * one_per_match
        roles = (*self.roles, self.role)
        scoped = ((key, [s for s in split_key(key)[0] if s != "eval"]) for key in self.columns)
        return [
            f"{key!r} names the role {scopes[0]!r}, which is not in `roles`"
            for key, scopes in scoped
            if scopes and scopes[0] not in roles
        ]


def read_column_map(file: str | Path) -> ColumnMap:
    """Returns the content of a column map. Raises InvalidConfig with every mistake, UsageError if the file
    cannot be read."""
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the column map cannot be read: {problem}", at=str(file)) from error
    source = Source.parse(text, str(file))
    try:
        found = ColumnMap.model_validate(source.data)
    except ValidationError as error:
        problems = [*source.duplicate_keys, *explain_errors(error, ColumnMap, source.location)]
        raise InvalidConfig(problems) from None
    if source.duplicate_keys:
        raise InvalidConfig(source.duplicate_keys)
    if problems := found.problems():
        raise UsageError("\n".join(problems), at=source.location(("columns",)))
    return found
