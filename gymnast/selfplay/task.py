"""Cross-play as a task."""

from __future__ import annotations

from contextlib import closing

from gymnast.league import stored_cross_play
from gymnast.league.heatmap import heatmap_png
from gymnast.league.matrix import CrossPlayMatrix, CrossPlayReport
from gymnast.progress import ProgressCallback
from gymnast.runs import durable
from gymnast.selfplay.crossplay import cross_play as play_pairs
from gymnast.selfplay.crossplay import open_tournament


def cross_play(
    ref: str, *, episodes: int, max_snapshots: int, runs_dir: str, progress: ProgressCallback
) -> CrossPlayReport:
    """Plays the missing pairs of a run's matrix and draws it, see `api.cross_play`."""
    n_matches = min(episodes, 64)
    with closing(open_tournament(ref, n_matches=n_matches, runs_dir=runs_dir)) as tournament:
        results = play_pairs(
            tournament, max_snapshots=max_snapshots, episodes=episodes, progress=progress
        )
        run = tournament.run
    picture = stored_cross_play.picture(run.path)
    report = CrossPlayMatrix.from_results(results).report(run.id, str(picture))
    durable.replace(picture, heatmap_png(report))
    return report
