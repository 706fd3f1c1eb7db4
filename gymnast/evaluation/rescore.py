"""Scores a stored policy again. Needs no torch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from gymnast.collect.collector import ROLE
from gymnast.config import families
from gymnast.config.resolve import apply_overrides
from gymnast.errors import EnvError, RunError
from gymnast.evaluation.evaluate import Evaluation
from gymnast.evaluation.jobs import EvaluationJob, open_evaluation_runner
from gymnast.evaluation.progress import ProgressCallback
from gymnast.evaluation.record import PolicyScore
from gymnast.policy.policy import Policy
from gymnast.runs import checkpoint, store
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.role_arrays import POLICY, arrays_of_role
from gymnast.runs.run import Run

_LOG = logging.getLogger("gymnast.envs")


def rescore(
    ref: str,
    *,
    episodes: int | None = None,
    seed: int | None = None,
    sampled: bool = False,
    runs_dir: str | Path | None = None,
    on_output: Callable[[str], None] = _LOG.warning,
    report: ProgressCallback = lambda *_: None,
) -> PolicyScore:
    """Returns the score of a run's checkpoint (the one that `ref` names, else the best, else the latest) on
    its held-out seeds, evaluated as training would, with the returns, lengths and seeds of all episodes.

    `episodes`: instead of `eval.confirm_episodes` and `eval.starts`; `seed`: instead of `eval.seed`;
    `sampled`: sample actions instead of playing the mode. `on_output` gets the lines that the environment
    prints, `report` the progress. Raises EnvError if no episode finishes, or if the environment has several
    agents."""
    run, saved = find_checkpoint(ref, runs_dir)
    cfg = run.trusted_config()
    # Only from Python: the command evaluates such runs by role.
    fix = f"gymnast eval {run.id}, or --roles for a cast of your own"
    families.require_single_agent(cfg.env.id, fix)
    changes: dict[str, object] = {}
    if sampled:
        changes["eval.deterministic"] = False
    if seed is not None:
        changes["eval.seed"] = seed
    if changes:
        cfg, _ = apply_overrides(cfg, changes)
    specs, arrays = saved.document("policy"), saved.tensors(POLICY)
    job = EvaluationJob(
        saved.step, specs, arrays, "confirm", trace_file=None, run_dir=run.path, episodes=episodes
    )
    # The same runner as in training, so that a crash of the environment is survived here too.
    with closing(open_evaluation_runner(cfg, on_output, report)) as runner:
        runner.submit(job)
        result = runner.result(should_stop=lambda: False)
    assert isinstance(result, Evaluation)
    if not result.has_score:
        raise EnvError(f"no episode finished: {result.shortfall.why}", fix="raise eval.timeout")
    score, shortfall = result.score(), result.shortfall
    # One episode has no interval.
    has_interval = len(result.returns) > 1 or result.exact
    return PolicyScore(
        run=run.id,
        env=cfg.env.id,
        checkpoint=saved.step,
        path=str(saved.path),
        mean=score["mean"],
        low=score["low"] if has_interval else None,
        high=score["high"] if has_interval else None,
        iqm=score["iqm"],
        episodes=len(result.returns),
        planned=shortfall.planned or len(result.returns),
        missing=shortfall.why,
        left_out=shortfall.left_out,
        unfinished=shortfall.unfinished,
        sound=shortfall.is_unbiased,
        length=sum(result.lengths) / len(result.lengths),
        threshold=cfg.facts.threshold,
        deterministic=cfg.eval.deterministic,
        returns=result.returns,
        lengths=result.lengths,
        seeds=result.seeds,
        numbers=_by_metric(result.info_metrics),
    )


def _by_metric(
    episodes: Sequence[Mapping[str, float]],
) -> dict[str, tuple[float | None, ...]]:
    """Returns metric -> its value in each episode, from the metrics of each episode."""
    names = dict.fromkeys(name for episode in episodes for name in episode)
    return {name: tuple(episode.get(name) for episode in episodes) for name in names}


def find_checkpoint(ref: str, runs_dir: str | Path | None) -> tuple[Run, Checkpoint]:
    """Returns a run and one of its checkpoints to play: the one that `ref` names, else the best, else the
    latest. Raises RunError or CheckpointError if there is none, CodeNotAllowed if the run is not trusted."""
    run, which = store.resolve(ref, store.runs_dir(runs_dir))
    run.trusted_config()
    if which is None:
        which = "latest" if run.info["checkpoints"]["best"] is None else "best"
    return run, checkpoint.find(run.path, which)


def load_policy(saved: Checkpoint, role: str = ROLE) -> Policy:
    """Returns the policy of a role as stored in a checkpoint; raises RunError if it has no such role."""
    specs = saved.document("policy")
    if role not in specs:
        what = f"there is no policy for the role {role!r}"
        raise RunError(what, at=str(saved.path), fix=f"choose one of: {', '.join(specs)}")
    policy = Policy.from_spec(specs[role])
    policy.load(arrays_of_role(role, saved.tensors(POLICY)))
    return policy
