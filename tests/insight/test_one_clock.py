"""Every view has the same default clock, and one setting changes it for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.api import OPERATIONS
from gymnast.cli import cli
from gymnast.clock import CLOCKS, DEFAULT_CLOCK, ClockName, budget_in_env_steps
from gymnast.errors import UsageError
from gymnast.mcp.tools import TOOLS
from gymnast.monitor.curves import read_curve
from gymnast.runs.run import Run
from gymnast.settings import view_clock
from tests.monitor.runs import made_run
from tests.small_runs import rows, train_small

Record = Callable[..., Run]


@pytest.fixture(params=[None, "env_steps", "seconds"])
def clock(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the clock of the settings file, which one of the cases lacks."""
    file = tmp_path / "settings.yaml"
    file.write_text("{}" if request.param is None else f"clock: {request.param}\n")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    return request.param or DEFAULT_CLOCK


def views(runs: list[Run]) -> Iterator[tuple[str, str]]:
    """Yields the name of a view and the clock that it used."""
    ids, name = [run.id for run in runs], "eval:episode/return"
    yield "compare", api.compare(ids).x
    yield "seed_curves", api.seed_curves(ids, ["policy/entropy"]).x
    yield "curves", api.curves(ids, ["policy/entropy"]).x
    yield "trends", api.trends(ids[0], ["policy/entropy"]).x
    yield "chart", api.chart(ids, [name], format="text").x
    yield from (("charts", chart.x) for chart in api.charts(ids[0]) if chart.kind == "line")


def label(clock: str) -> str:
    return clock.replace("_", " ")


def test_every_view_uses_the_clock_of_the_settings_file(record: Record, clock: str):
    runs = [record([100.0, 200.0, 300.0], n_envs=n) for n in (1, 8)]
    assert {found for _, found in views(runs)} == {clock}
    (report, *_) = api.report(runs[0].id, ["md"]).files
    assert clock in Path(report).read_text()
    assert f"The clock is {label(clock)}." in api.review_runs([run.id for run in runs]).text
    for words in (["compare", *(run.id for run in runs)], ["chart", runs[0].id, "--text"]):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
        assert clock in done.output


def test_the_monitor_draws_over_the_clock_of_the_settings_file(clock: str):
    settings = {"env.n_envs": 3, "algo.n_steps": 8, "stop.rollouts": 4, "eval.every": "2 rollouts"}
    run = train_small("Script", settings | {"eval.episodes": 2, "eval.confirm_episodes": 2})
    recorded = [row[f"clock/{clock}"] for row in rows(run) if "policy/kl" in row]
    found = api.monitor(refs=[run.id])
    assert {chart.x_label for chart in found.charts if chart.kind == "lines"} == {label(clock)}
    (kl,) = (c for c in found.charts if c.name == f"{run.id}-kl")
    assert kl.series[0].x == recorded


@pytest.mark.usefixtures("clock")
def test_a_command_may_name_another_clock(record: Record):
    runs = [record([100.0, 200.0]).id for _ in range(2)]
    for x in CLOCKS:
        assert api.compare(runs, x).x == api.trends(runs[0], ["policy/entropy"], x=x).x == x
    with pytest.raises(UsageError, match="'steps' is not a clock"):
        api.compare(runs, "steps")


def test_no_view_declares_a_clock_of_its_own():
    """The operations, the commands and the tools for assistants leave the choice to one place."""
    for name in OPERATIONS:
        x = inspect.signature(getattr(api, name)).parameters.get("x")
        assert x is None or x.default == "", name
    options = {
        name: option
        for name, command in (
            (name, cli.get_command(None, name)) for name in cli.list_commands(None)
        )  # type: ignore[arg-type]
        for option in getattr(command, "params", ())
        if "--x" in option.opts
    }
    assert options.keys() == {"chart", "compare", "report", "trends"}
    assert len({id(option.callback) for option in options.values()}) == 1
    for tool in TOOLS.values():
        for parameter in tool.parameters:
            if parameter.name == "x":
                assert parameter.default is None
                assert parameter.choices == CLOCKS


def test_the_monitor_places_rows_and_evaluations_on_the_clock():
    steps, vec = [80.0, 160.0, 240.0], [10.0, 20.0, 30.0]
    run = made_run(
        steps,
        {
            "clock/vec_steps": vec,
            "policy/kl": [1.0, 2.0, 3.0],
            "eval:episode/return": [np.nan, 5.0, 6.0],
            "eval:clock/env_steps": [np.nan, 0.0, 120.0],
        },
        roles=(),
    )
    assert read_curve(run, "policy/kl").x.tolist() == steps
    drawn = replace(run, clock="vec_steps")
    assert read_curve(drawn, "policy/kl").x.tolist() == vec
    assert read_curve(drawn, "eval:episode/return").x.tolist() == [0.0, 15.0]


def test_the_setting_is_one_of_the_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "settings.yaml"
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    for name in CLOCKS:
        file.write_text(f"clock: {name}\n")
        assert view_clock() == name
        assert view_clock("updates") == "updates"
    file.write_text("clock: env_step\n")
    with pytest.raises(
        UsageError, match=r"settings.yaml:1: clock: env_step is unknown .*env_steps"
    ):
        view_clock()


@pytest.mark.parametrize("clock", ["vec_steps", "env_steps"])
def test_a_tracker_draws_over_the_clock_of_the_first_attempt(
    record: Record, clock: ClockName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from gymnast.training.lifecycle.start import _clock_of_trackers

    file = tmp_path / "settings.yaml"
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    file.write_text(f"clock: {clock}\n")
    run = record([1.0])
    assert _clock_of_trackers(run) == clock
    file.write_text("clock: seconds\n")
    assert _clock_of_trackers(run) == clock


def test_the_session_of_a_studio_has_the_clock(clock: str):
    from gymnast.studio.session import _default_clock

    assert _default_clock() == clock


def test_a_broken_settings_file_does_not_lock_the_user_out_of_the_studio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from gymnast.studio.session import _default_clock

    file = tmp_path / "settings.yaml"
    file.write_text("clock: [\n")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    assert _default_clock() == DEFAULT_CLOCK


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"env_steps": 500, "vec_steps": 2}, 500),
        ({"vec_steps": 100}, 800),
        ({"seconds": 60}, None),
        ({}, None),
    ],
)
def test_a_budget_in_vector_steps_counts_the_steps_of_all_copies(
    limits: dict[str, float], expected: float | None
):
    counters: Any = {"env_steps": 320, "vec_steps": 40}
    assert budget_in_env_steps(counters, limits) == expected
    assert budget_in_env_steps({"env_steps": 0, "vec_steps": 0}, {"vec_steps": 9}) is None
