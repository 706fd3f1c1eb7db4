"""Plays a fresh episode with a stored policy, and stores it with the run.

It is played as evaluations are, so the same seed and settings give the same episode, bit for bit.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import closing

from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.errors import EnvError, UsageError
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress
from gymnast.evaluation.evaluate import Evaluator
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.inspector.env_overrides import require_spaces_of, with_env_overrides
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.episodes import EpisodeInfo, find_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import EpisodeSettings, store_episode
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from gymnast.selfplay.crossplay import Tournament


def roll_out(
    run: Run,
    *,
    checkpoint: str | None,
    seed: int | None,
    sampled: bool,
    max_steps: int | None,
    overrides: Mapping[str, object],
    roles: Mapping[str, str],
    progress: ProgressCallback = no_progress,
) -> EpisodeInfo:
    """Plays one episode or match, see `api.roll_out`, and returns its description. `progress` counts its
    steps."""
    ref = str(run.path.resolve()) + ("" if checkpoint is None else f":{checkpoint}")
    saved = find_checkpoint(ref, run.path.parent)[1]
    config = with_env_overrides(run.trusted_config(), overrides)
    plan = EpisodePlan(
        seeds=(secrets.randbelow(2**31) if seed is None else seed,),
        max_length=max_steps,
        deterministic=not sampled,
        timeout=config.eval.timeout,
    )
    counted = EvaluationProgress(on_step=_StepCounter(max_steps, progress), total=1)
    if is_multi_agent(config.env.id):
        played = _match(run, saved, config, plan, roles, counted)
    elif roles:
        problem = f"{config.env.id} has a single agent and no roles"
        raise UsageError(problem, fix="leave out the players of roles")
    else:
        played = _episode(saved, config, plan, counted)
    settings = EpisodeSettings(dict(overrides), sampled=sampled, max_steps=max_steps)
    number = store_episode(run, "fresh", played, settings)
    return find_episode(run, "fresh", played.version, number)


class _StepCounter:
    """Reports the number of steps; to be called before every step."""

    def __init__(self, max_steps: int | None, progress: ProgressCallback) -> None:
        self._max_steps, self._progress, self._steps = max_steps, progress, 0

    def __call__(self, _done: int, _total: int) -> None:
        self._progress(self._steps, self._max_steps or 0)
        self._steps += 1


def _episode(
    saved: Checkpoint, config: Config, plan: EpisodePlan, progress: EvaluationProgress
) -> Trace:
    """Plays the episode of a plan in the environments of an evaluation: as many, since matrix products round
    differently for another number of rows."""
    policy = load_policy(saved)
    with closing(Evaluator(config)) as evaluator:
        envs = evaluator.envs
        require_spaces_of(policy, envs.obs_space, envs.action_space, config.env.id)
        evaluation, traces = evaluator.evaluate(policy, saved.step, plan, progress)
    if not traces:
        problem = f"the episode did not end: {evaluation.shortfall.why}"
        raise EnvError(problem, fix="limit its number of steps")
    return traces[0]


def _match(
    run: Run,
    saved: Checkpoint,
    config: Config,
    plan: EpisodePlan,
    roles: Mapping[str, str],
    progress: EvaluationProgress,
) -> MatchTrace:
    """Plays the match of a plan. `roles`: role -> player; the others are played by the policies of the
    checkpoint or, if they do not learn, by the last player that the config names."""
    with closing(Tournament(run, saved, config, run.path.parent)) as tournament:
        cast = tournament.learners_cast()
        unknown = [role for role in roles if role not in cast]
        if unknown:
            problem = f"{config.env.id} has no role {unknown[0]} (known: {', '.join(cast)})"
            raise UsageError(problem, fix="name one of its roles")
        return tournament.play(cast | dict(roles), plan, progress)[0].trace
