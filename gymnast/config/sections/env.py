"""Which environment, and how many copies of it step together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from gymnast.config.numbers import OFF, Count, Maybe, Positive, Switch
from gymnast.config.section import Section

AUTO_ENVS = 8
"""What `n_envs: auto` means."""

Backend = Literal["auto", "inprocess", "process", "vector"]


def _auto(value: Any) -> Any:
    """`auto` is settled here, once, so that a stored config names the number that was used."""
    return AUTO_ENVS if isinstance(value, str) and value == "auto" else value


def _settled(value: str) -> str:
    return "inprocess" if value == "auto" else value


class EnvConfig(Section):
    id: str
    """The environment's registered name."""
    kwargs: dict[str, JsonValue] = {}
    """Arguments for its constructor."""
    n_envs: Annotated[Count, BeforeValidator(_auto), Field(le=65_536)] = AUTO_ENVS
    """Copies that step together while collecting; `auto` picks."""
    backend: Annotated[Backend, AfterValidator(_settled)] = "auto"
    """Where the copies run: in this process, in worker processes, or as the environment's own vector
    implementation; `auto` picks."""
    workers: Maybe[Count] = OFF
    """Processes of the process backend; off: one per core."""
    max_episode_steps: Maybe[Count] = OFF
    """A time limit for training episodes other than the environment's own."""
    frames_per_step: Count = 1
    """Game frames that one step costs."""
    action_mask: Switch = True
    """Rule out actions that the environment's `info["action_mask"]` forbids."""
    timeout: Positive = 60.0
    """Seconds a step may take in another process before that counts as hung."""
    on_fault: Literal["restart", "stop"] = "restart"
    """When a copy raises, dies, hangs or breaks its contract: begin it anew, or end training."""
    max_faults: Count = 5
    """Training ends once a copy has had this many faults without finishing an episode between."""
