"""One training of the table: the parts of the training loop that decide its evaluation curve, without a run
directory and metrics, which would take as long as the training itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np

from gymnast.engine.threads import set_num_threads
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.evaluation.evaluate import Evaluation
from gymnast.evaluation.jobs import InlineEvaluation
from gymnast.evaluation.scores import Scores
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.stop import limit_to_budget
from gymnast.training.session import Session
from gymnast.training.update import update_roles


def evaluation_curve(task: str, settings: Mapping[str, object]) -> list[float]:
    """Trains with these settings and returns the mean return at every evaluation point: the numbers that
    `gymnast train` with the same settings stores (a test compares them)."""
    cfg = resolve_for_spaces(task, settings, algo="ppo").config
    set_num_threads(cfg.threads, split_batch=False)
    with closing(open_collector(cfg)) as collector, closing(InlineEvaluation(cfg)) as runner:
        session = Session.build(cfg, collector, Scores(runner, None), Path())
        collector.start_episodes()
        clock, curve = session.clock, list[float]()
        while clock.env_steps < clock.limits["env_steps"]:
            _iterate(session)
            if session.eval_timer.due(clock):
                version = session.version()
                session.scores.submit(version.policies, version.env_steps)
                evaluation = session.scores.wait_for_result(lambda: False)
                assert isinstance(evaluation, Evaluation)
                curve.append(float(np.mean(evaluation.returns)))
    return curve


def _iterate(session: Session) -> None:
    """Collects one rollout and learns from it, as `Loop.iterate` does."""
    cfg, clock = session.cfg, session.clock
    hparams = session.settings.hyperparameters(clock, session.learners)
    length = next(iter(hparams.values())).rollout_length()
    span = limit_to_budget(length, cfg.env.n_envs, cfg.env.frames_per_step, clock)
    collected = session.collector.collect(session.acting_policies(), span, clock, lambda: False)
    updated = update_roles(session, collected.rollouts, hparams)
    clock.env_steps += collected.steps
    clock.vec_steps += collected.vec_steps
    clock.updates += updated.gradient_steps
    clock.rollouts += 1
    clock.episodes += collected.episodes
