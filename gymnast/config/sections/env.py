"""The environment: its id, wrappers, number of copies and backend."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from gymnast.config.applies import Applies
from gymnast.config.distribution import Distribution
from gymnast.config.episode_limit import AutoSteps
from gymnast.config.numbers import OFF, Count, Maybe, PlainField, Positive, Switch, Whole
from gymnast.config.section import SECTION_DEFAULT, Section
from gymnast.config.sections.image import TO_ATARI, AtariConfig, ImageConfig, is_atari
from gymnast.config.sections.noise import NoiseConfig
from gymnast.config.sections.tasks import StageConfig, TaskConfig, stage_conflicts
from gymnast.config.vec_env_defaults import vec_env_defaults

ATARI_FRAMES, IMAGE_STACK = 4, 4
"""Values of `frames_per_step: auto` for an Atari game, and of `stack: auto` for images."""

Backend = Literal["auto", "inprocess", "process", "vector", "envpool"]
SAME_NUMBERS = frozenset({"inprocess", "process"})
"""Backends between which a run can be moved: they step each copy alone, with the same numbers."""
VECTOR_BACKENDS = ("vector", "envpool")
"""Backends that step all copies at once and run none of our wrappers around a single copy."""
View = Literal["auto", "raw", "image", "objects", "ram"]


# Resolvers of `auto`. pydantic validates fields in the order of declaration, so `known.data` holds only the
# fields above: `id` must be declared first, and `view` before `stack`.


def _view(value: str, known: ValidationInfo) -> str:
    if value != "auto":
        return value
    return "image" if is_atari(known.data.get("id", "")) else "raw"


def _stack(value: object, known: ValidationInfo) -> object:
    if value != "auto":
        return value
    return IMAGE_STACK if known.data.get("view") == "image" else 1


def _frames(value: object, known: ValidationInfo) -> object:
    if value != "auto":
        return value
    return ATARI_FRAMES if is_atari(known.data.get("id", "")) else 1


def _copies(value: object, known: ValidationInfo) -> object:
    """Resolves `auto` during validation, so that a stored config contains the number that was used."""
    return vec_env_defaults(known.data.get("id", "")).n_envs if value == "auto" else value


def _backend(value: str, known: ValidationInfo) -> str:
    return vec_env_defaults(known.data.get("id", "")).backend if value == "auto" else value


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


WITH_WORKERS = Applies(
    "to env.backend=process, and to Atari games with env.backend=vector",
    lambda on: (
        on.config.env.backend == "process"
        or (on.config.env.backend == "vector" and is_atari(on.config.env.id))
    ),
)
TO_IMAGE_VIEW = Applies("to env.view=image", lambda on: on.config.env.view == "image")
WITH_RESTARTS = Applies("with env.on_fault=restart", lambda on: on.config.env.on_fault == "restart")


class EnvConfig(Section):
    id: str
    """Gymnasium id of the environment."""
    kwargs: dict[str, PlainField] = {}
    """Keyword arguments of the environment's constructor."""
    tasks: dict[TaskName, TaskConfig] = {}
    """Several environments, or settings of one, for a single policy, by name. Each episode plays one task."""
    curriculum: tuple[StageConfig, ...] = ()
    """Stages of training, each with some of the tasks. Empty: all tasks from the start."""
    randomize: dict[ParameterName, Distribution] = {}
    """Domain randomization: parameters of the environment that are sampled at every reset, such as
    `{gravity: uniform(-12, -4)}`."""
    noise: NoiseConfig = SECTION_DEFAULT
    """Noise, sticky actions and delays between policy and environment."""
    keep: tuple[str, ...] = ()
    """Keys of a Dict observation that are kept; a single key is unwrapped to its own space. Empty: all."""
    one_hot: tuple[Count, ...] = ()
    """One-hot encoding of observations whose numbers are categories: the number of categories for each
    index of the last axis. Empty: no encoding."""
    hide: tuple[Whole, ...] = ()
    """Components of a vector observation that the policy does not see, by index from 0: hiding velocities
    makes a task that needs memory (policy.memory) or env.stack. Empty: none."""
    n_envs: Annotated[Count, BeforeValidator(_copies), Field(le=65_536)] = AUTO
    """Number of env copies that step together while collecting. `auto`: a number that was measured to be
    fast for this environment."""
    backend: Annotated[Backend, AfterValidator(_backend)] = "auto"
    """Place where the env copies run: in this process, in worker processes, in the environment's own vector
    implementation, or in EnvPool. `auto`: what was measured to be fastest; never EnvPool, and the vector
    implementation only if no other setting rules it out."""
    workers: Annotated[Maybe[Annotated[Count, Field(le=1024)]], WITH_WORKERS] = OFF
    """Number of worker processes of the process backend, or of threads of ALE's vector implementation. off:
    one per core."""
    max_episode_steps: AutoSteps = "auto"
    """Steps after which a training episode is truncated. `auto`: the environment's own limit; if it
    declares none, eval.max_episode_steps or 1,000. `off`: the environment's own limit only."""
    frames_per_step: Annotated[Count, BeforeValidator(_frames)] = AUTO
    """Emulator frames per step (frame skip); an Atari action is repeated for this many frames. `auto`: 4
    for Atari games, else 1."""
    view: Annotated[View, AfterValidator(_view)] = "auto"
    """Observation of the policy: the environment's own (raw), its frames preprocessed as set in `env.image`
    (image), and for Atari games the positions of the objects (objects; Pong and Breakout) or the RAM
    (ram). `auto`: image for Atari games, else raw."""
    image: Annotated[ImageConfig, TO_IMAGE_VIEW] = SECTION_DEFAULT
    """Preprocessing of image observations."""
    atari: Annotated[AtariConfig, TO_ATARI] = SECTION_DEFAULT
    """Start and end of Atari episodes."""
    stack: Annotated[Count, BeforeValidator(_stack), Field(le=64)] = AUTO
    """Number of stacked observations, the newest last. `auto`: 4 for images, else 1. Without a preset,
    grayscale and RGB images of the environment itself (`view: raw`) are stacked too."""
    previous_actions: Annotated[Whole, Field(le=64)] = 0
    """Number of previous actions appended to the observation, the newest last."""
    action_mask: Switch = True
    """Never sample actions that `info["action_mask"]` marks as invalid."""
    timeout: Positive = 60.0
    """Seconds after which a step counts as hung. A worker process is then killed and restarted; a step in the
    training process is interrupted or, if it hangs in C code, ends the run with its newest checkpoint."""
    on_fault: Literal["restart", "stop"] = "restart"
    """Reaction when an env copy raises, dies, hangs or returns invalid data: restart the copy, or stop
    training."""
    max_faults: Annotated[Count, WITH_RESTARTS] = 5
    """Training stops once a copy has failed this many times without finishing an episode in between."""

    @model_validator(mode="before")
    @classmethod
    def _backend_left_open(cls, given: object) -> object:
        """Drops `backend: auto`, so that `model_fields_set` shows whether the user chose a backend."""
        if isinstance(given, dict) and given.get("backend") == "auto":
            return {name: value for name, value in given.items() if name != "backend"}
        return given

    def conflicts(self) -> list[tuple[str, str]]:
        """Returns settings that contradict each other, as (field, message)."""
        return stage_conflicts(self.curriculum, self.tasks)

    @property
    def adds_randomness(self) -> bool:
        """True if our own wrappers (randomization or noise) make episodes random."""
        return bool(self.randomize) or self.noise.is_random

    def randomized_metrics(self) -> dict[str, str]:
        """Returns randomized parameter -> name of its metric, which is also its key in `info`."""
        return {name: f"env/{name}" for name in self.randomize}

    def for_evaluation(self) -> EnvConfig:
        """Returns the settings for evaluation episodes: a lost life does not end an Atari game."""
        # Ending training episodes at a lost life is common (Mnih et al. 2015), but scores are of whole games.
        atari = self.atari.model_copy(update={"life_loss_ends": False})
        return self.model_copy(update={"atari": atari})

    def for_task(self, name: str) -> EnvConfig:
        """Returns the settings of a single task, without the other tasks and the curriculum."""
        task = self.tasks[name]
        kwargs = {**self.kwargs, **task.kwargs}
        alone = {"id": task.id or self.id, "kwargs": kwargs, "tasks": {}, "curriculum": ()}
        return self.model_copy(update=alone)
