"""Evaluation: when the policy is evaluated, on which episodes and in which process."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gymnast.config.applies import WITH_EVALUATIONS, Applies
from gymnast.config.cadence import Cadence
from gymnast.config.episode_limit import AutoSteps
from gymnast.config.numbers import OFF, Count, Maybe, NumberOrShare, Positive, Switch, Whole
from gymnast.config.section import Section

WITH_FIXED_EPISODES = Applies(
    "without eval.steps, and with eval.starts=seeds",
    lambda on: on.config.eval.steps is None and on.config.eval.starts == "seeds",
)


class EvalConfig(Section):
    LIVE = ("every", "wait", "warmup", "start_at")
    every: Maybe[Cadence] = Cadence.parse("10%")
    """How often the policy is evaluated."""
    episodes: Annotated[Count, Field(le=1_000_000), WITH_FIXED_EPISODES] = 20
    """Episodes per evaluation."""
    steps: Maybe[Count] = OFF
    """Evaluate for at least this many env steps instead of a fixed number of episodes."""
    starts: Literal["seeds", "all"] = "seeds"
    """`seeds`: episodes are reset with fixed seeds. `all`: every possible first observation is played. If the
    episode that follows is deterministic, one episode per start gives the exact mean; otherwise each
    start gets the same number of episodes, `episodes` or more in total."""
    mode: Literal["process", "inline", "ray"] = "process"
    """Evaluate concurrently in a separate process, inline in the training process, or concurrently on the Ray
    cluster of collect.on=ray."""
    wait: Annotated[Switch, WITH_EVALUATIONS] = False
    """Training waits for each result, so that it does not overrun once the environment is solved."""
    warmup: Annotated[Maybe[Count], WITH_EVALUATIONS] = OFF
    """Env steps before the first evaluation."""
    start_at: Annotated[Maybe[NumberOrShare], WITH_EVALUATIONS] = OFF
    """Training return from which evaluations start: a number, or a share of the threshold."""
    deterministic: Switch = True
    """Take the most likely action instead of sampling one."""
    seed: Whole = 1000
    """Root of the evaluation seeds. Every evaluation plays the same episodes."""
    confirm_episodes: Annotated[Count, Field(le=1_000_000)] = 100
    """Episodes of the final confirmation, on seeds that were never used before."""
    confirm_seconds: Maybe[Positive] = 30
    """The final confirmation starts no further episodes after this many seconds, or after the duration of
    training if that was longer. At least 10 episodes are played. off: play all of them."""
    timeout: Maybe[Positive] = 1800
    """Time limit of one evaluation in seconds. Episodes that have finished by then are scored, the others are
    reported as missing; such a partial score neither stops training nor selects the best checkpoint."""
    n_envs: Annotated[Count, Field(le=65_536)] = 8
    """Number of env copies that step together while evaluating."""
    max_episode_steps: AutoSteps = "auto"
    """Steps after which an evaluation episode is truncated. `auto`: the environment's own limit; if it
    declares none, env.max_episode_steps or 1,000. `off`: the environment's own limit only."""
