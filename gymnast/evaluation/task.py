"""The evaluation of a stored policy as a task."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing

from gymnast.config.families import is_multi_agent
from gymnast.evaluation.progress import progress_text
from gymnast.evaluation.record import EvaluationReport
from gymnast.evaluation.rescore import rescore
from gymnast.progress import ProgressCallback
from gymnast.runs import store
from gymnast.selfplay.crossplay import open_tournament, play_cast, play_opponents


def evaluate(
    ref: str,
    *,
    episodes: int | None,
    seed: int | None,
    sampled: bool,
    roles: Mapping[str, str] | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> EvaluationReport:
    """Evaluates the checkpoint that `ref` names, see `api.eval`."""

    def report(done: int, total: int, seconds: float) -> None:
        progress(done, total, progress_text(done, total, seconds))

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    if roles is None and not is_multi_agent(run.info["env"]):
        score = rescore(
            ref,
            episodes=episodes,
            seed=seed,
            sampled=sampled,
            runs_dir=runs_dir,
            on_output=lambda line: print(line, file=sys.stderr),
            report=report,
        )
        return EvaluationReport(score)
    tournament = open_tournament(ref, seed=seed, sampled=sampled, runs_dir=runs_dir, report=report)
    with closing(tournament):
        if roles is None:
            matches = play_opponents(tournament, episodes)
        else:
            matches = [play_cast(tournament, roles, episodes)]
    return EvaluationReport(None, tuple(matches))
