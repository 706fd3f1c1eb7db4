"""Episodes outside of training: any process may store them, and no number is used twice."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gymnast import api
from gymnast.config.resolve import resolve, save
from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.film.choose import choose_episode
from gymnast.film.requested import find_requested
from gymnast.runs import layout, requested_episodes
from gymnast.runs.episode_kinds import KINDS, REQUESTED
from gymnast.runs.episodes import (
    episode_settings,
    find_episode,
    list_episodes,
    read_episode,
)
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import (
    EpisodeSettings,
    config_with,
    requested_files,
    store_episode,
)
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, write_traces
from gymnast.runs.trace_budget import trim_to_budget

Maker = Callable[..., Run]
PLAIN = EpisodeSettings()


def episode(
    value: float = 1.0,
    version: int = 100,
    steps: int = 5,
    *,
    ends: tuple[bool, bool] = (True, False),
) -> Trace:
    reward = np.full(steps, value / steps)
    action, dist = np.zeros(steps, np.int64), np.zeros((steps, 2), np.float32)
    estimate = np.zeros(steps, np.float32)
    return Trace(7, action, reward, estimate, dist, None, *ends, value, 0, version)


def match(version: int = 100, *, ended: bool = True) -> MatchTrace:
    actions = {role: np.zeros((3, 1, 3), np.int64) for role in ("seeker", "hider")}
    rewards = {"seeker": np.ones((3, 1)), "hider": -np.ones((3, 1))}
    cast = {"seeker": "person", "hider": "learner"}
    outcome = "caught" if ended else ""
    return MatchTrace(9, actions, rewards, cast, outcome, version, {}, ended)


def test_episodes_are_listed_and_read_like_those_of_training(make_run: Maker):
    run = make_run()
    write_traces(run.traces / f"eval-{100:012d}.safetensors", [episode(3), episode(4)], {})
    assert [store_episode(run, "fresh", episode(v), PLAIN) for v in (10.0, 11.0)] == [0, 1]
    assert store_episode(run, "fresh", episode(12.0, version=50), PLAIN) == 2
    assert store_episode(run, "played", episode(20.0, ends=(False, True)), PLAIN) == 0
    assert store_episode(run, "played", episode(21.0, ends=(False, False)), PLAIN) == 1
    listed = list(list_episodes(run))
    assert [e.position for e in listed] == sorted(e.position for e in listed)
    found = [(e.kind, e.version, e.number, e.raw_return, e.outcome) for e in listed]
    assert found == [
        ("fresh", 50, 2, 12.0, "terminated"),
        ("eval", 100, 0, 3.0, "terminated"),
        ("eval", 100, 1, 4.0, "terminated"),
        ("fresh", 100, 0, 10.0, "terminated"),
        ("fresh", 100, 1, 11.0, "terminated"),
        ("played", 100, 0, 20.0, "truncated"),
        ("played", 100, 1, 21.0, "stopped"),
    ]
    for info in listed:
        stored = read_episode(run, info.kind, info.version, info.number)
        assert isinstance(stored, Trace)
        assert stored.raw_return == info.raw_return
        assert find_episode(run, info.kind, info.version, info.number) == info
        assert (info.settings is None) == (info.kind not in REQUESTED)
    with pytest.raises(RunError, match="no stored fresh episode 2 of version 100"):
        read_episode(run, "fresh", 100, 2)


def test_pages_of_episodes_have_every_episode_once(make_run: Maker):
    run = make_run()
    for kind in REQUESTED:
        for version in (100, 50, 100):
            store_episode(run, kind, episode(version=version), PLAIN)
    expected, seen, cursor = list(list_episodes(run)), [], None
    while True:
        page = api.episodes(run.id, limit=2, after=cursor)
        seen += page.episodes
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == expected
    assert len(seen) == 6


def test_the_environment_decides_whether_they_are_matches(make_run: Maker):
    run = make_run(env="tag", preset="tag:selfplay")
    settings = EpisodeSettings(role="seeker")
    assert store_episode(run, "played", match(), settings) == 0
    assert store_episode(run, "played", match(ended=False), settings) == 1
    first, second = list_episodes(run)
    assert (first.outcome, second.outcome) == ("caught", "stopped")
    assert first.cast["seeker"] == "person"
    assert first.settings == second.settings == settings
    stored = read_episode(run, "played", 100, 1)
    assert isinstance(stored, MatchTrace)
    assert not stored.ended


SETTINGS = [
    PLAIN,
    EpisodeSettings({"env.kwargs.gravity": -8.5, "env.noise.obs": 0.1}, sampled=True),
    EpisodeSettings({"env.kwargs": {"map": ["SF", "HG"], "slip": False}}, max_steps=20),
    EpisodeSettings({"env.randomize": {"gravity": "uniform(-12, -4)"}}, role="hider"),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=range(len(SETTINGS)))
def test_settings_come_back_as_they_were(make_run: Maker, settings: EpisodeSettings):
    run = make_run()
    number = store_episode(run, "fresh", episode(), settings)
    assert episode_settings(run, "fresh", 100, number) == settings
    assert find_episode(run, "fresh", 100, number).settings == settings


def test_the_config_of_an_episode_has_its_settings(make_run: Maker):
    text = save(resolve("LunarLander-v3").config)
    run = make_run(config_text=text, env="LunarLander-v3")
    changed = config_with(run, EpisodeSettings({"env.kwargs.gravity": -8.5}))
    assert changed.env.kwargs["gravity"] == -8.5
    assert config_with(run, None) == config_with(run, PLAIN) == run.config()
    assert changed.facts.threshold is None, "declared for the environment as it is"
    same = {"env": run.config().env, "facts": run.config().facts}
    assert changed.model_copy(update=same) == run.config()


def test_processes_that_store_at_the_same_time_never_share_a_number(
    make_run: Maker, fork: Callable[[Callable[[], Any]], int]
):
    import os

    run = make_run()

    def store() -> None:
        for _ in range(8):
            store_episode(run, "fresh", episode(float(os.getpid())), PLAIN)

    pids = [fork(store) for _ in range(4)]
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 4
    listed = list(list_episodes(run, "fresh"))
    assert [e.number for e in listed] == list(range(32))
    writers = [read_episode(run, "fresh", e.version, e.number) for e in listed]
    assert sorted(t.raw_return for t in writers if isinstance(t, Trace)) == sorted(pids * 8)
    assert not list(layout.EPISODES.path(run.path).glob(".*"))


def test_the_oldest_are_removed_and_no_number_is_used_twice(
    make_run: Maker, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(requested_episodes, "MAX_EPISODES", {"fresh": 3, "played": 2})
    run = make_run()
    given = [store_episode(run, "fresh", episode(version=100 - i), PLAIN) for i in range(6)]
    assert given == list(range(6))
    for _ in range(2):
        store_episode(run, "played", episode(), PLAIN)
    kept = {(file.kind, file.number) for file in requested_files(run)}
    assert kept == {("fresh", 3), ("fresh", 4), ("fresh", 5), ("played", 0), ("played", 1)}


def test_large_episodes_are_limited_by_their_size_but_the_newest_is_kept(
    make_run: Maker, monkeypatch: pytest.MonkeyPatch
):
    run = make_run()
    store_episode(run, "fresh", episode(steps=100), PLAIN)
    size = requested_files(run)[0].path.stat().st_size
    monkeypatch.setattr(requested_episodes, "MAX_BYTES", 2 * size)
    for _ in range(3):
        store_episode(run, "fresh", episode(steps=100), PLAIN)
    assert [file.number for file in requested_files(run)] == [2, 3]
    store_episode(run, "fresh", episode(steps=1000), PLAIN)
    assert [file.number for file in requested_files(run)] == [4]


def test_the_disk_budget_of_training_neither_counts_nor_removes_them(make_run: Maker):
    run = make_run()
    file = run.traces / f"eval-{100:012d}.safetensors"
    write_traces(file, [episode(v) for v in range(9)], {})
    budget = file.stat().st_size
    for _ in range(3):
        store_episode(run, "fresh", episode(steps=500), PLAIN)
    trim_to_budget(run.traces, budget, set())
    assert len(list(list_episodes(run, "eval"))) == 9
    trim_to_budget(run.traces, 0, set())
    assert len(list(list_episodes(run, "fresh"))) == 3


def test_a_draft_that_a_killed_process_left_is_removed(make_run: Maker):
    run = make_run()
    store_episode(run, "fresh", episode(), PLAIN)
    draft = layout.EPISODES.path(run.path) / ".fresh-000000000100-000001.safetensors.1-ab"
    draft.write_bytes(b"half")
    store_episode(run, "fresh", episode(), PLAIN)
    assert not draft.exists()


def test_a_deleted_run_does_not_come_back(make_run: Maker):
    run = make_run()
    shutil.rmtree(run.path)
    with pytest.raises(RunError, match="was deleted"):
        store_episode(run, "fresh", episode(), PLAIN)
    assert not run.path.exists()


def test_episodes_are_not_foreign_files(make_run: Maker):
    run = make_run()
    store_episode(run, "fresh", episode(), PLAIN)
    assert layout.foreign_files(run.path) == []


def test_one_is_selected_by_number_return_or_age(make_run: Maker):
    run = make_run()
    with pytest.raises(RunError, match="no fresh episodes are stored"):
        find_requested(run, "fresh", "last", None)
    for value, version in ((1.0, 100), (9.0, 100), (5.0, 50)):
        store_episode(run, "fresh", episode(value, version), PLAIN)
    chosen = {which: find_requested(run, "fresh", which, None).number for which in ("best", "last")}
    assert chosen == {"best": 1, "last": 2}
    assert find_requested(run, "fresh", "last", "100").number == 1
    assert find_requested(run, "fresh", "0", None).raw_return == 1.0
    with pytest.raises(UsageError, match="no fresh episode 7"):
        find_requested(run, "fresh", "7", None)
    film = choose_episode(run, "best", kind="fresh")
    assert (film.version, film.index, film.selection) == (100, 1, "1")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_asked_for(make_run: Maker, kind: str):
    assert list(list_episodes(make_run(), kind)) == []
    with pytest.raises(UsageError, match="not a kind of episode"):
        list(list_episodes(make_run(), f"{kind}s"))


def test_an_episode_that_cannot_be_written_is_an_error_that_names_the_folder(make_run: Maker):
    run = make_run()
    folder = layout.EPISODES.path(run.path)
    folder.write_text("not a folder")
    with pytest.raises(GymnastError, match="not written: File exists") as refused:
        store_episode(run, "played", episode(), PLAIN)
    assert refused.value.at == str(folder)
