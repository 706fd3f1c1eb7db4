"""Which trackers follow a run, beside the record that it keeps itself."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator

from gymnast.config.applies import Applies
from gymnast.config.numbers import OFF, Maybe, show
from gymnast.config.section import Section

Tracker = Literal["wandb", "tensorboard"]
TRACKERS: tuple[Tracker, ...] = get_args(Tracker)
"""By name; each has a module of that name in `metrics/sinks/` and an extra that installs it."""
_REFUSED = re.compile(r"[/\\#?%:\s]+")
"""What W&B does not take in the name of a project."""
_LONGEST = 128


def _several(value: Any) -> Any:
    """One tracker needs no list; `off` is none."""
    if value == "off":
        return ()
    return (value,) if isinstance(value, str) else value


def _project(value: str) -> str:
    if not value or _REFUSED.search(value) or len(value) > _LONGEST:
        expected = f"at most {_LONGEST} characters without spaces and / \\ # ? % :"
        raise ValueError(f"{show(value)} cannot name a project (expected {expected})")
    return value


def project_of(env_id: str) -> str:
    """The project of an environment's runs: its id, without what W&B refuses."""
    return _REFUSED.sub("-", env_id)[:_LONGEST].strip("-")


TO_WANDB = Applies("to W&B (track.to=wandb)", lambda on: "wandb" in on.config.track.to)


class TrackConfig(Section):
    to: Annotated[
        tuple[Tracker, ...],
        BeforeValidator(_several),
        AfterValidator(lambda names: tuple(dict.fromkeys(names))),
    ] = ()
    """Trackers that get every row too; none unless named."""
    project: Annotated[Maybe[Annotated[str, AfterValidator(_project)]], TO_WANDB] = OFF
    """W&B project. Off: one per environment, named after its id."""
    entity: Annotated[Maybe[str], TO_WANDB] = OFF
    """W&B user or team. Off: the default of your account."""
    mode: Annotated[Literal["auto", "offline", "online"], TO_WANDB] = "auto"
    """W&B: kept in the run's directory until you upload it (offline), or uploaded meanwhile (online).
    Auto: as the variable WANDB_MODE says, else offline."""
