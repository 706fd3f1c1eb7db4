"""The plots of a study, as data and as a picture."""

from __future__ import annotations

import base64
from dataclasses import replace

from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.sweep import study as studies
from gymnast.sweep.plot_data import StudyPlots, study_plots
from gymnast.text.formatting import count_noun


def sweep_plots(study: str, *, picture: bool = False, runs_dir: RunsDir = None) -> StudyPlots:
    """Returns the plots of a study: the history of its trials, parallel coordinates, slices, importance, and
    the learning curves of the best trial and the baseline. `study`: its name or a unique prefix, or @last;
    `picture`: also as a PNG, which needs matplotlib (the extra `report`)."""
    found = studies.find(study, store.runs_dir(runs_dir))
    plots = study_plots(found.name, found.space, found.plan, found.state())
    if not picture:
        return plots
    from gymnast.sweep.plot_picture import study_png

    title = f"{found.name} · {found.space.target} · {count_noun(len(plots.trials), 'trial')}"
    return replace(plots, png=base64.b64encode(study_png(title, plots)).decode("ascii"))
