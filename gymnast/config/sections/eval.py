"""When and how the policy is scored."""

from __future__ import annotations

from typing import Annotated, Literal

from gymnast.config.applies import WITH_EVALUATIONS, Applies
from gymnast.config.cadence import Cadence
from gymnast.config.episode_limit import AutoSteps
from gymnast.config.numbers import OFF, Count, Maybe, NumberOrShare, Positive, Switch, Whole
from gymnast.config.section import Section

OF_FIXED_NUMBER = Applies(
    "without eval.steps, and with eval.starts=seeds",
    lambda on: on.config.eval.steps is None and on.config.eval.starts == "seeds",
)


class EvalConfig(Section):
    LIVE = ("every", "wait", "warmup", "start_at")
    every: Maybe[Cadence] = Cadence.parse("10%")
    """How often."""
    episodes: Annotated[Count, OF_FIXED_NUMBER] = 20
    """Episodes per evaluation."""
    steps: Maybe[Count] = OFF
    """Evaluate for at least this many steps instead of a number of episodes."""
    starts: Literal["seeds", "all"] = "seeds"
    """Episodes from fixed seeds, or from every possible first observation: one each, which is exact, unless
    episodes that begin alike may differ; then the same number each, `episodes` or more in all."""
    mode: Literal["process", "inline"] = "process"
    """Beside training in a process of its own, or in the training process."""
    wait: Annotated[Switch, WITH_EVALUATIONS] = False
    """Training waits for each result: no overrun after solving."""
    warmup: Annotated[Maybe[Count], WITH_EVALUATIONS] = OFF
    """Env steps before the first evaluation."""
    start_at: Annotated[Maybe[NumberOrShare], WITH_EVALUATIONS] = OFF
    """Evaluate only once the training return reaches this, or this share of the threshold."""
    deterministic: Switch = True
    """Take the most likely action instead of drawing one."""
    seed: Whole = 1000
    """Root of the evaluation seeds: the same episodes each time."""
    confirm_episodes: Count = 100
    """Episodes of the final confirmation, on seeds never used before."""
    confirm_seconds: Maybe[Positive] = 30
    """The final confirmation starts no further episodes after this many seconds, or after as long as
    training took if that was longer; at least 10 are played. off: play them all."""
    timeout: Maybe[Positive] = 1800
    """Seconds that one evaluation may take. Episodes that have finished by then are scored, the others are
    reported; such a score neither stops training nor chooses a checkpoint."""
    n_envs: Count = 8
    """Copies that step together while evaluating."""
    max_episode_steps: AutoSteps = "auto"
    """Steps after which an evaluation episode is truncated. `auto`: the environment's own limit, or where
    it declares none, that of env.max_episode_steps or 1,000; `off`: only its own."""
