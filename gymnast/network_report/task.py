"""The report on a network as a task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from gymnast.evaluation.rescore import find_checkpoint
from gymnast.network_report.network import network_report
from gymnast.network_report.record import NetworkReport
from gymnast.progress import ProgressCallback
from gymnast.runs import store
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.prepare import prepare


def net(
    target: str,
    *,
    is_run: bool,
    overrides: Mapping[str, object],
    runs_dir: str,
    progress: ProgressCallback,
) -> NetworkReport:
    """Reports the networks of a run's checkpoint or, unless `is_run`, the untrained ones of an environment,
    see `api.net`."""
    progress(0, 1)
    directory = store.runs_dir(runs_dir)
    if is_run:
        run, saved = find_checkpoint(target, directory)
        cfg, name = run.trusted_config(), f"{run.id}, checkpoint {saved.step:,}"
        with closing(open_collector(cfg)) as collector:
            return network_report(name, cfg, collector, saved, directory)
    prepared = prepare(target, overrides)
    resolved = prepared.resolved
    with closing(prepared.collector) as collector:
        return network_report(resolved.preset, resolved.config, collector, runs_dir=directory)
