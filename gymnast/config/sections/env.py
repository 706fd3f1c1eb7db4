"""Which environment, and how many copies of it step together."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    ValidationInfo,
    model_validator,
)

from gymnast.config.applies import Applies
from gymnast.config.distribution import Distribution
from gymnast.config.episode_limit import AutoSteps
from gymnast.config.measured import measured
from gymnast.config.numbers import OFF, Count, Maybe, Positive, Switch, Whole
from gymnast.config.section import UNSET, Section
from gymnast.config.sections.image import TO_ATARI, AtariConfig, ImageConfig, is_atari
from gymnast.config.sections.noise import NoiseConfig
from gymnast.config.sections.tasks import StageConfig, TaskConfig, stage_conflicts

ATARI_FRAMES, IMAGE_STACK = 4, 4
"""What `frames_per_step: auto` means for an Atari game, and `stack: auto` for images."""

Backend = Literal["auto", "inprocess", "process", "vector", "envpool"]
WHOLE = ("vector", "envpool")
"""Backends that step all copies or none, and run nothing of ours around them."""
View = Literal["auto", "raw", "image", "objects", "ram"]


def _view(value: str, known: ValidationInfo) -> str:
    if value != "auto":
        return value
    return "image" if is_atari(known.data.get("id", "")) else "raw"


def _stack(value: Any, known: ValidationInfo) -> Any:
    if value != "auto":
        return value
    return IMAGE_STACK if known.data.get("view") == "image" else 1


def _frames(value: Any, known: ValidationInfo) -> Any:
    if value != "auto":
        return value
    return ATARI_FRAMES if is_atari(known.data.get("id", "")) else 1


def _copies(value: Any, known: ValidationInfo) -> Any:
    """`auto` is settled here, once, so that a stored config names the number that was used."""
    return measured(known.data.get("id", "")).n_envs if value == "auto" else value


def _backend(value: str, known: ValidationInfo) -> str:
    return measured(known.data.get("id", "")).backend if value == "auto" else value


def _task_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) or name in ("eval", "agent"):
        raise ValueError(f"{name!r} cannot name a task (expected a word other than eval or agent)")
    return name


AUTO: Any = "auto"
TaskName = Annotated[str, AfterValidator(_task_name)]


def _parameter_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"{name!r} cannot name a parameter (expected a word such as gravity)")
    return name


ParameterName = Annotated[str, AfterValidator(_parameter_name)]


WITH_PROCESSES = Applies("to env.backend=process", lambda on: on.config.env.backend == "process")
TO_PICTURES = Applies("to env.view=image", lambda on: on.config.env.view == "image")
WITH_RESTARTS = Applies("with env.on_fault=restart", lambda on: on.config.env.on_fault == "restart")


class EnvConfig(Section):
    id: str
    """The environment's registered name."""
    kwargs: dict[str, JsonValue] = {}
    """Arguments for its constructor."""
    tasks: dict[TaskName, TaskConfig] = {}
    """Several environments or settings for one policy, by name: each episode plays one of them."""
    curriculum: tuple[StageConfig, ...] = ()
    """Stages through which training goes, each with some of the tasks; empty: all from the start."""
    randomize: dict[ParameterName, Distribution] = {}
    """Parameters of the environment that are drawn anew for every episode: `uniform(-12, -4)`."""
    noise: NoiseConfig = UNSET
    """What goes wrong between policy and environment."""
    keep: tuple[str, ...] = ()
    """Entries of a Dict observation to show, the others are dropped; a single one stands alone. Empty:
    all."""
    one_hot: tuple[Count, ...] = ()
    """Where the numbers of an observation stand for kinds of things: how many kinds there are, for each
    index of the last axis. Each number becomes that many of 0 and 1."""
    n_envs: Annotated[Count, BeforeValidator(_copies), Field(le=65_536)] = AUTO
    """Copies that step together while collecting; `auto`: as many as were measured to be fast."""
    backend: Annotated[Backend, AfterValidator(_backend)] = "auto"
    """Where the copies run: in this process, in worker processes, as the environment's own vector
    implementation, or in EnvPool (never by `auto`); `auto`: where they were measured to be fast, the
    vector only where nothing else in the config forbids it."""
    workers: Annotated[Maybe[Count], WITH_PROCESSES] = OFF
    """Processes of the process backend; off: one per core."""
    max_episode_steps: AutoSteps = "auto"
    """Steps after which a training episode is truncated. `auto`: the environment's own limit, or where it
    declares none, that of eval.max_episode_steps or 1,000; `off`: only its own."""
    frames_per_step: Annotated[Count, BeforeValidator(_frames)] = AUTO
    """Game frames that one step costs; an action of an Atari game is held for so many. `auto`: 4 for
    these, else 1."""
    view: Annotated[View, AfterValidator(_view)] = "auto"
    """What is shown of the environment: what it shows itself (raw), pictures prepared as `env.image`
    says, or of an Atari game the places of its objects (Pong, Breakout) or its memory (ram). `auto`:
    image for an Atari game, else raw."""
    image: Annotated[ImageConfig, TO_PICTURES] = UNSET
    """How pictures are prepared."""
    atari: Annotated[AtariConfig, TO_ATARI] = UNSET
    """How an Atari game begins and ends."""
    stack: Annotated[Count, BeforeValidator(_stack), Field(le=64)] = AUTO
    """Observations shown together, the newest last; `auto`: 4 images, else 1."""
    previous_actions: Annotated[Whole, Field(le=64)] = 0
    """How many of its last actions the policy is shown beside the observation, the newest last."""
    action_mask: Switch = True
    """Rule out actions that the environment's `info["action_mask"]` forbids."""
    timeout: Positive = 60.0
    """Seconds a step may take before that counts as hung: then a worker process is killed and started
    anew, and a run whose copies are in the training process is marked as stalled."""
    on_fault: Literal["restart", "stop"] = "restart"
    """When a copy raises, dies, hangs or breaks its contract: begin it anew, or end training."""
    max_faults: Annotated[Count, WITH_RESTARTS] = 5
    """Training ends once a copy has had this many faults without finishing an episode between."""

    @model_validator(mode="before")
    @classmethod
    def _backend_left_open(cls, given: Any) -> Any:
        """`backend: auto` is the same as none, so that `model_fields_set` tells whether one was chosen."""
        if isinstance(given, dict) and given.get("backend") == "auto":
            return {name: value for name, value in given.items() if name != "backend"}
        return given

    def conflicts(self) -> list[tuple[str, str]]:
        """Settings that contradict each other: (field, what is wrong)."""
        return stage_conflicts(self.curriculum, self.tasks)

    @property
    def has_luck(self) -> bool:
        """Whether an episode is subject to chance that is not the environment's own."""
        return bool(self.randomize) or self.noise.has_any

    def drawn_metrics(self) -> dict[str, str]:
        """Randomised parameter -> the metric, and the key of the info, that tells what was drawn."""
        return {name: f"env/{name}" for name in self.randomize}

    def scored(self) -> EnvConfig:
        """The environment of episodes that count: whole games."""
        atari = self.atari.model_copy(update={"life_loss_ends": False})
        return self.model_copy(update={"atari": atari})

    def of_task(self, name: str) -> EnvConfig:
        """The environment of one task, alone."""
        task = self.tasks[name]
        kwargs = {**self.kwargs, **task.kwargs}
        alone = {"id": task.id or self.id, "kwargs": kwargs, "tasks": {}, "curriculum": ()}
        return self.model_copy(update=alone)
