"""Which environment, and how many copies of it step together."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, ValidationInfo

from gymnast.config.measured import measured
from gymnast.config.numbers import OFF, Count, Maybe, Positive, Switch
from gymnast.config.section import Section
from gymnast.config.sections.tasks import StageConfig, TaskConfig, stage_conflicts

AUTO_ENVS: Any = "auto"
"""As many as were measured to be fast."""

Backend = Literal["auto", "inprocess", "process", "vector"]


def _auto(value: Any, known: ValidationInfo) -> Any:
    """`auto` is settled here, once, so that a stored config names the number that was used."""
    is_auto = isinstance(value, str) and value == AUTO_ENVS
    return measured(known.data.get("id", "")).n_envs if is_auto else value


def _settled(value: str, known: ValidationInfo) -> str:
    return measured(known.data.get("id", "")).backend if value == "auto" else value


def _task_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) or name in ("eval", "agent"):
        raise ValueError(f"{name!r} cannot name a task (expected a word other than eval or agent)")
    return name


TaskName = Annotated[str, AfterValidator(_task_name)]


class EnvConfig(Section):
    id: str
    """The environment's registered name."""
    kwargs: dict[str, JsonValue] = {}
    """Arguments for its constructor."""
    tasks: dict[TaskName, TaskConfig] = {}
    """Several environments or settings for one policy, by name: each episode plays one of them."""
    curriculum: tuple[StageConfig, ...] = ()
    """Stages through which training goes, each with some of the tasks; empty: all from the start."""
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

    def conflicts(self) -> list[tuple[str, str]]:
        """Settings that contradict each other: (field, what is wrong)."""
        return stage_conflicts(self.curriculum, self.tasks)

    def of_task(self, name: str) -> EnvConfig:
        """The environment of one task, alone."""
        task = self.tasks[name]
        kwargs = {**self.kwargs, **task.kwargs}
        alone = {"id": task.id or self.id, "kwargs": kwargs, "tasks": {}, "curriculum": ()}
        return self.model_copy(update=alone)
