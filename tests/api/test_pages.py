"""Pages of runs, rows, events and episodes: together they are the whole, whatever happens in between."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from gymnast import api
from gymnast.errors import RunError, UsageError
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces
from gymnast.runs.trace_budget import thin_evaluation
from tests.api.conftest import Trained


def make_runs(runs_dir: Path, count: int, created: float = 1000.0) -> list[str]:
    """Creates runs, of which every two have the same time of creation; returns their ids."""
    ids: list[str] = []
    for i in range(count):
        run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=i, provenance={})
        run.update(status="finished", created=created + i // 2)
        ids.append(run.id)
    return ids


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_the_pages_of_runs_are_the_whole_list_even_if_runs_are_created_in_between(
    limit: int, runs_dir: Path
):
    make_runs(runs_dir, 7)
    whole = [run.id for run in api.runs(runs_dir=runs_dir).runs]
    seen: list[str] = []
    after: str | None = None
    while True:
        page = api.runs(after=after, limit=limit, runs_dir=runs_dir)
        assert len(page.runs) <= limit
        seen += [run.id for run in page.runs]
        after = page.cursor
        if after is None:
            break
        make_runs(runs_dir, 1, created=5000.0)
    assert seen == whole


def test_a_page_of_runs_continues_after_a_run_that_was_deleted(runs_dir: Path):
    make_runs(runs_dir, 4)
    whole = [run.id for run in api.runs(runs_dir=runs_dir).runs]
    page = api.runs(limit=2, runs_dir=runs_dir)
    (runs_dir / whole[1] / "run.json").unlink()
    rest = api.runs(after=page.cursor, runs_dir=runs_dir)
    assert [run.id for run in rest.runs] == whole[2:]
    with pytest.raises(UsageError, match="cursor"):
        api.runs(after="yesterday", runs_dir=runs_dir)


def write_rows(run: Run, values: list[float], first: int = 1) -> None:
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i, value in enumerate(values, start=first):
            row = {"clock/rollouts": float(i), "clock/env_steps": 100.0 * i, "policy/kl": value}
            store.append(row if i % 3 else row | {"policy/entropy": -value})


@pytest.fixture
def run(runs_dir: Path) -> Run:
    return Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})


@pytest.mark.parametrize("limit", [1, 2, 5, 50])
def test_the_pages_of_rows_are_all_rows_even_if_rows_are_written_in_between(limit: int, run: Run):
    write_rows(run, [float(i) for i in range(1, 9)])
    seen: list[dict[str, float]] = []
    cursor, more = 0, True
    while more:
        page = api.rows(run.id, after=cursor, limit=limit)
        assert len(page.rows) <= limit
        seen += page.rows
        cursor, more = page.cursor, page.has_more
        if len(seen) <= limit:
            write_rows(run, [9.0], first=9)
    seen += api.rows(run.id, after=cursor).rows
    assert seen == api.rows(run.id).rows
    assert [row["policy/kl"] for row in seen] == [float(i) for i in range(1, 10)]


def test_superseded_rows_are_on_no_page_and_a_new_attempt_is_visible(run: Run):
    write_rows(run, [1.0, 2.0, 3.0, 4.0])
    before = api.rows(run.id)
    with MetricStore(run.path / "metrics.db", "w") as store:
        store.supersede(after_rollouts=2)
        store.append({"clock/rollouts": 3.0, "clock/env_steps": 300.0, "policy/kl": 30.0})
    after = api.rows(run.id, after=before.cursor)
    assert [row["policy/kl"] for row in after.rows] == [30.0]
    assert after.attempt > before.attempt
    assert [row["policy/kl"] for row in api.rows(run.id).rows] == [1.0, 2.0, 30.0]


def test_the_latest_rows_have_the_cursor_of_the_end(run: Run):
    write_rows(run, [1.0, 2.0, 3.0])
    page = api.rows(run.id, ["policy/kl"], last=1)
    assert [row["policy/kl"] for row in page.rows] == [3.0]
    assert api.rows(run.id, after=page.cursor).rows == []
    with pytest.raises(UsageError, match="last"):
        api.rows(run.id, last=1, after=1)


numbers = st.floats(allow_nan=True, allow_infinity=True)


def test_the_pages_of_events_are_all_events(run: Run):
    for i in range(5):
        run.record_event("evaluated", {"env_steps": i, "rollouts": i}, version=i)
    whole = api.events(run.id)
    first = api.events(run.id, limit=2)
    run.record_event("stopping", {"env_steps": 9, "rollouts": 9}, reason="enough")
    rest = api.events(run.id, after=first.cursor)
    assert [*first.events, *rest.events][:5] == whole.events
    assert (rest.events[-1].kind, rest.events[-1].detail) == ("stopping", {"reason": "enough"})
    assert rest.events[0].text == "version 2"
    assert (rest.cursor, rest.total) == (6, 6)


@pytest.mark.parametrize("which", ["first", "match"])
def test_the_pages_of_episodes_are_all_stored_episodes(which: str, trained: Trained):
    run: Run = getattr(trained, which)
    whole = api.episodes(run.id, runs_dir=trained.runs_dir).episodes
    seen, after = [], None
    while True:
        page = api.episodes(run.id, after=after, limit=3, runs_dir=trained.runs_dir)
        seen += page.episodes
        after = page.cursor
        if after is None:
            break
    assert seen == whole
    assert {episode.kind for episode in whole} == {"train", "eval", "confirm"}
    evaluations = api.episodes(run.id, kind="eval", runs_dir=trained.runs_dir).episodes
    assert evaluations == [episode for episode in whole if episode.kind == "eval"]


def test_an_episode_and_its_steps_are_those_of_its_trace(trained: Trained):
    for file in sorted(trained.first.traces.glob("*-*.safetensors")):
        kind, version = file.stem.split("-")
        listed = api.episodes(
            trained.first.id, kind=kind, version=int(version), runs_dir=trained.runs_dir
        ).episodes
        traces = read_traces(file)
        assert len(listed) == len(traces)
        for episode, trace in zip(listed, traces, strict=True):
            assert (episode.seed, episode.length, episode.env) == (
                trace.seed,
                len(trace),
                trace.env,
            )
            assert episode.raw_return == trace.raw_return
            assert episode.outcome == ("terminated" if trace.terminated else "truncated")
            where = (trained.first.id, kind, int(version), episode.number)
            steps = api.steps(*where, runs_dir=trained.runs_dir)
            assert steps.total == len(trace)
            names = ["push left", "push right"]
            assert steps.columns["action"] == [names[action] for action in trace.action]
            assert steps.columns["reward_so_far_raw"][-1] == trace.raw_return
            probabilities = [x for name, x in steps.columns.items() if name.startswith("p/")]
            assert len(probabilities) == 2
            assert np.allclose(np.sum(probabilities, axis=0), 1.0)
            assert steps.columns["terminated"][-1] == trace.terminated
            assert not any(steps.columns["terminated"][:-1])
            page = api.steps(
                *where, columns=["reward_raw"], start=1, limit=2, runs_dir=trained.runs_dir
            )
            assert page.columns == {"reward_raw": trace.reward[1:3].tolist()}


def test_an_episode_of_a_thinned_evaluation_keeps_its_number(trained: Trained, tmp_path: Path):
    copy = Run(shutil.copytree(trained.first.path, tmp_path / "thinned"))
    file = sorted(copy.traces.glob("confirm-*"))[0]
    whole = read_traces(file)
    thin_evaluation(file)
    listed = api.episodes(str(copy.path), kind="confirm").episodes
    for episode in listed:
        assert episode.seed == whole[episode.number].seed
        steps = api.steps(str(copy.path), "confirm", episode.version, episode.number)
        assert steps.total == len(whole[episode.number])
    with pytest.raises(RunError, match="no stored confirm episode 99"):
        api.steps(str(copy.path), "confirm", listed[0].version, 99)
    with pytest.raises(UsageError, match="did you mean reward_raw"):
        api.steps(
            str(copy.path), "confirm", listed[0].version, listed[0].number, columns=["rewards_raw"]
        )
