"""Experiment trackers (W&B, TensorBoard) that receive metrics in addition to the run's own database."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator

from gymnast.config.applies import Applies
from gymnast.config.numbers import OFF, Maybe, PlainField, quote_value
from gymnast.config.section import Section

Tracker = Literal["wandb", "tensorboard"]
TRACKERS: tuple[Tracker, ...] = get_args(Tracker)
"""Supported trackers. Each has a module in `metrics/sinks/` and a pip extra of the same name."""
_INVALID = re.compile(r"[/\\#?%:\s]+")
"""Characters that W&B rejects in the name of a project."""
_MAX_LENGTH = 128


def _as_tuple(value: object) -> object:
    """Accepts a single name instead of a list, and `off` as an empty list."""
    if value == "off":
        return ()
    return (value,) if isinstance(value, str) else value


def _project(value: str) -> str:
    if not value or _INVALID.search(value) or len(value) > _MAX_LENGTH:
        expected = f"at most {_MAX_LENGTH} characters without spaces and / \\ # ? % :"
        raise ValueError(f"{quote_value(value)} cannot name a project (expected {expected})")
    return value


def default_project(env_id: str) -> str:
    """Returns the default project name: the environment's id without characters that W&B rejects."""
    return _INVALID.sub("-", env_id)[:_MAX_LENGTH].strip("-")


def _wandb_id(value: str) -> str:
    """Returns the id of a run or a sweep; raises ValueError for one that W&B would reject."""
    if not value.strip() or _INVALID.search(value):
        raise ValueError(
            f"{quote_value(value)} is no id of W&B (it has no spaces and / \\ # ? % :)"
        )
    return value


WandbId = Annotated[str, AfterValidator(_wandb_id)]
TO_WANDB = Applies("to W&B (track.to=wandb)", lambda on: "wandb" in on.config.track.to)


class TrackConfig(Section):
    to: Annotated[
        tuple[Tracker, ...],
        BeforeValidator(_as_tuple),
        AfterValidator(lambda names: tuple(dict.fromkeys(names))),
    ] = ()
    """Trackers that receive every row of metrics. Empty: none."""
    project: Annotated[Maybe[Annotated[str, AfterValidator(_project)]], TO_WANDB] = OFF
    """W&B project. off: one project per environment, named after its id."""
    entity: Annotated[Maybe[str], TO_WANDB] = OFF
    """W&B user or team. off: the default of your account."""
    mode: Annotated[Literal["auto", "offline", "online"], TO_WANDB] = "auto"
    """W&B mode: keep the data in the run's directory until you upload it (offline), or upload it during
    training (online). auto: the environment variable WANDB_MODE, else offline."""
    run_id: Annotated[Maybe[WandbId], TO_WANDB] = OFF
    """Id of the run in W&B. off: its id here. `gymnast sweep agent` sets it, because the server of a sweep
    chooses the ids of its runs."""
    sweep: Annotated[Maybe[WandbId], TO_WANDB] = OFF
    """Id of the W&B sweep that the run belongs to; `gymnast sweep agent` sets it."""
    sweep_config: Annotated[dict[str, PlainField], TO_WANDB] = {}
    """The values that the W&B sweep chose for this run, as its server wrote them. They are reported to W&B
    in addition to the config, because the search of the sweep reads them under these names."""
