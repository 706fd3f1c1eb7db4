"""Games that a person plays: the environment's own steps, stored as an episode that replays exactly."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pygame
import pytest

from gymnast import api
from gymnast.collect.matchmaking import greedy_player
from gymnast.config.resolve import resolve, save
from gymnast.errors import EnvError, RunError, UsageError
from gymnast.evaluation.rescore import load_policy
from gymnast.film.matches.replay import MatchRenderer, replay_match
from gymnast.film.renderer import enlarged
from gymnast.inspector import play
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.inspection import inspect
from gymnast.inspector.matches import OpenMatch
from gymnast.inspector.open_episodes import OpenEpisodes
from gymnast.inspector.play_client import Games
from gymnast.inspector.play_record import PlayedEpisode, PlayEnd, PlayStart, PlayState
from gymnast.runs import checkpoint, store
from gymnast.runs.episodes import list_episodes, read_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import config_with
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from tests.inspector.conftest import copied
from tests.small_runs import train_small

UNUSED = Run("")
IDS = iter(range(1000))


@pytest.fixture(autouse=True)
def no_open_games() -> Iterator[None]:
    yield
    play.end_all()


def start(target: str | Run, runs_dir: Path, **options: Any) -> PlayStart:
    """Starts a game in this process."""
    is_run = isinstance(target, Run)
    given: dict[str, Any] = {
        "session": f"game {next(IDS)}",
        "target": target.id if is_run else target,
        "run_path": str(target.path) if is_run else None,
        "which": None,
        "runs_dir": str(runs_dir),
        "seed": 3,
        "role": "",
        "sampled": None,
        "overrides": {},
        "width": 320,
    }
    return play.play_start(UNUSED, **(given | options))


def step(game: PlayStart, *keys: str, steps: int = 1, action: Any = None) -> PlayState:
    session = game.session
    return play.play_step(UNUSED, session=session, keys=keys, action=action, steps=steps)


def stop(game: PlayStart) -> PlayEnd:
    return play.play_stop(UNUSED, session=game.session)


def trace_of(played: PlayedEpisode | None) -> Trace | MatchTrace:
    assert played is not None
    address = played.address
    return read_episode(Run(address.path), address.kind, address.version, address.number)


def test_a_game_is_what_the_environment_does_with_these_actions(runs_dir: Path):
    keys = ["left", "right", "right", "left", "right"] * 40
    game = start("CartPole-v1", runs_dir)
    assert [(key.key, key.does) for key in game.keys] == [
        ("left", "push left"),
        ("right", "push right"),
    ]
    env = gym.make("CartPole-v1")
    env.reset(seed=3)
    total = 0.0
    state = game.state
    assert (state.step, state.reward, state.total, state.over) == (0, 0.0, 0.0, False)
    for t, key in enumerate(keys, start=1):
        _, reward, terminated, truncated, _ = env.step(["left", "right"].index(key))
        total += float(reward)
        state = step(game, key)
        assert (state.step, state.reward, state.total) == (t, reward, total)
        assert (state.terminated, state.truncated) == (terminated, truncated)
        assert state.over == (terminated or truncated)
        if state.over:
            break
    assert state.outcome == "terminated"
    trace = trace_of(state.episode)
    assert isinstance(trace, Trace)
    assert trace.action.tolist() == [["left", "right"].index(key) for key in keys[: state.step]]
    assert (trace.raw_return, trace.terminated, trace.version) == (total, True, 0)
    assert state.episode is not None
    with closing(OpenEpisode(state.episode.address)) as episode:
        assert episode.replay.is_exact
        assert episode.policy is None
        assert "a person played" in episode.policy_note
        assert len(episode.table["reward_raw"]) == state.step
    with pytest.raises(RunError, match="no game"):
        step(game, "left")


def test_the_decisions_of_the_policy_are_recorded_next_to_those_of_the_person(
    cartpole: Run, tmp_path: Path
):
    run = copied(cartpole, tmp_path)
    game = start(run, tmp_path)
    state = step(game, "left", steps=100)
    assert state.over
    trace = trace_of(state.episode)
    assert isinstance(trace, Trace)
    assert set(trace.action.tolist()) == {0}
    saved = checkpoint.find(run.path, "best")
    assert trace.version == saved.step == game.version
    policy = load_policy(saved)
    assert state.episode is not None
    with closing(OpenEpisode(state.episode.address)) as episode:
        obs = episode.replay.obs[:-1]
    for t, row in enumerate(obs):  # one row at a time: products of more rows may round differently
        assert np.array_equal(trace.dist[t], policy.dist(row[None])[0])
        assert trace.value[t] == policy.value(row[None])[0]


def test_a_game_that_is_stopped_is_stored_and_one_without_steps_is_not(
    cartpole: Run, tmp_path: Path
):
    run = copied(cartpole, tmp_path)
    nothing = start(run, tmp_path)
    assert stop(nothing).episode is None
    game = start(run, tmp_path)
    step(game, "left", steps=2)
    played = stop(game).episode
    assert played is not None
    assert (played.info.outcome, played.info.length) == ("stopped", 2)
    assert [e.number for e in list_episodes(run, "played")] == [0]
    with closing(OpenEpisode(played.address)) as episode:
        assert episode.replay.is_exact
        assert not episode.table["terminated"].any()


def test_pictures_are_those_of_the_environment(runs_dir: Path):
    game = start("FrozenLake-v1", runs_dir, width=4096)
    env = gym.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset(seed=3)
    for key, action in (("down", 1), ("right", 2)):
        env.step(action)
        state = step(game, key)
        assert state.media_type == "image/png"
        shown = pygame.image.load(io.BytesIO(base64.b64decode(state.picture)))
        picture = pygame.surfarray.array3d(shown).swapaxes(0, 1)
        assert picture.shape == (state.height, state.width, 3)
        assert np.array_equal(picture, enlarged(np.asarray(env.render())))
    small = start("FrozenLake-v1", runs_dir, width=100)
    assert small.state.width == 100


def test_without_a_key_the_idle_action_is_taken_or_nothing_happens(runs_dir: Path):
    waits = start("FrozenLake-v1", runs_dir)
    assert waits.waits_for_key
    assert step(waits, steps=5).step == 0
    assert step(waits, "not a key").step == 0
    idles = start("LunarLander-v3", runs_dir)
    assert not idles.waits_for_key
    assert step(idles, steps=5).step == 5


def test_an_action_may_be_given_instead_of_keys(runs_dir: Path):
    game = start("FrozenLake-v1", runs_dir)
    assert step(game, action=0).step == 1
    for wrong in (4, -1, 0.5, [0, 0]):
        with pytest.raises(UsageError, match="is not an action of Discrete"):
            step(game, action=wrong)
    assert step(game, action=0).step == 2  # the game continues


def test_games_of_an_environment_share_a_run_while_its_config_is_the_same(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    ids: list[str] = []
    for options in ({}, {"overrides": {"env.kwargs.is_slippery": False}}):
        game = start("FrozenLake-v1", runs_dir, **options)
        step(game, "left")
        played = stop(game).episode
        assert played is not None
        ids.append(played.run)
    assert ids[0] == ids[1]
    (summary,) = store.list_runs(runs_dir)
    assert (summary.name, summary.tags, summary.status) == (
        "played-FrozenLake-v1",
        ["played"],
        "finished",
    )
    assert summary.is_untrained
    with closing(OpenEpisode(played.address)) as episode:
        assert episode.config.env.kwargs["is_slippery"] is False
        assert episode.replay.is_exact
    # Another config of the same environment has a run of its own.
    other = resolve("FrozenLake-v1", {"env.kwargs.map_name": "8x8"})
    monkeypatch.setattr(play, "resolve_for_spaces", lambda _: other)
    game = start("FrozenLake-v1", runs_dir)
    step(game, "left")
    played = stop(game).episode
    assert played is not None
    assert played.run not in ids
    assert Run(played.address.path).info["name"] == "played-FrozenLake-v1-2"


def test_last_is_a_run_that_was_trained(runs_dir: Path):
    trained = Run.create(
        runs_dir,
        config_text=save(resolve("CartPole-v1").config),
        preset="CartPole-v1:ppo",
        seed=0,
        provenance={},
    )
    game = start("FrozenLake-v1", runs_dir)
    step(game, "left")
    played = stop(game).episode
    assert played is not None
    assert store.resolve("@last", runs_dir)[0].id == trained.id
    assert store.resolve(played.run, runs_dir)[0].id == played.run


def test_every_page_about_runs_copes_with_one_that_was_not_trained(runs_dir: Path):
    game = start("FrozenLake-v1", runs_dir)
    step(game, "left")
    played = stop(game).episode
    assert played is not None
    for name in ("show", "events", "rows", "logs", "charts", "doctor", "episodes", "report"):
        api.OPERATIONS[name].function(played.run, runs_dir=runs_dir)


def test_an_environment_without_a_renderer_leaves_no_run(runs_dir: Path):
    with pytest.raises(EnvError, match="no render mode"):
        start("Bandit-v0", runs_dir)
    with pytest.raises(UsageError, match="no role hider"):
        start("CartPole-v1", runs_dir, role="hider")
    assert store.list_runs(runs_dir) == []


def test_a_long_game_is_stopped(runs_dir: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(play, "MAX_LENGTH", 7)
    game = start("Pendulum-v1", runs_dir)
    state = step(game, steps=100)
    assert (state.step, state.over, state.outcome) == (7, True, "")
    assert state.episode is not None
    assert state.episode.info.outcome == "stopped"


def test_a_process_that_ends_stores_its_games(runs_dir: Path):
    game = start("CartPole-v1", runs_dir)
    step(game, "left", steps=3)
    OpenEpisodes().close()  # what a worker does last
    (run,) = store.list_runs(runs_dir)
    (info,) = list_episodes(Run(run.path))
    assert (info.kind, info.length, info.outcome) == ("played", 3, "stopped")


def test_a_person_plays_one_role_of_a_match(runs_dir: Path):
    game = start("tag", runs_dir, role="hider", overrides={"env.kwargs.time_limit": 15})
    assert (game.role, game.roles) == ("hider", ["seeker", "hider"])
    assert game.cast == {"seeker": "random", "hider": "person"}
    held = ["up", "left"], ["up"], ["space", "right"]
    state = game.state
    for i in range(15):
        state = step(game, *held[i % 3])
        if state.over:
            break
    assert state.over
    trace = trace_of(state.episode)
    assert isinstance(trace, MatchTrace)
    expected = [[0, 2, 0], [1, 2, 0], [2, 1, 1]]  # turn, move, dash
    assert trace.actions["hider"][:, 0].tolist() == [expected[i % 3] for i in range(len(trace))]
    assert state.total == pytest.approx(trace.rewards["hider"][:, 0].sum())
    assert trace.ended
    assert len(np.unique(trace.actions["seeker"][:, 0], axis=0)) > 1
    assert state.episode is not None
    config = config_with(Run(state.episode.address.path), state.episode.info.settings)
    with closing(MatchRenderer(config)) as renderer:
        replay_match(renderer, trace)  # raises where it differs
    with closing(OpenEpisodes()) as episodes:
        seat = episodes.open(replace(state.episode.address, role="hider"))
        assert len(inspect(seat).table["step"]) == len(trace)
        assert "person played the hider" in seat.policy_note
    with pytest.raises(UsageError, match="no role referee"):
        start("tag", runs_dir, role="referee")


@pytest.mark.slow
def test_games_run_in_workers_of_their_own_and_the_oldest_makes_room(runs_dir: Path):
    options: dict[str, Any] = {"run_path": None, "which": None, "runs_dir": runs_dir}
    options |= {"seed": 3, "role": "", "sampled": None, "overrides": {}, "width": 320}
    with closing(Games(max_games=1, idle_seconds=60)) as games:
        first = games.start("CartPole-v1", **options)
        games.step(first.session, keys=["left"], action=None, steps=2)
        with pytest.raises(UsageError, match="is not an action"):
            games.step(first.session, keys=[], action=9, steps=1)
        second = games.start("CartPole-v1", **options)
        with pytest.raises(UsageError, match="no game"):
            games.step(first.session, keys=["left"], action=None, steps=1)
        with pytest.raises(EnvError, match="no render mode"):
            games.start("Bandit-v0", **options)
        # Making room for it has stopped the second one, before any step was taken.
        with pytest.raises(UsageError, match="no game"):
            games.stop(second.session)
        third = games.start("CartPole-v1", **options)
        games.step(third.session, keys=["right"], action=None, steps=3)
    (run,) = store.list_runs(runs_dir)
    assert [e.length for e in list_episodes(Run(run.path))] == [2, 3]


@pytest.mark.slow
def test_the_policies_of_the_checkpoint_play_the_other_roles(runs_dir: Path):
    small = {"stop.env_steps": 512, "env.n_envs": 4, "algo.n_steps": 64, "algo.batch_size": 64}
    run = train_small("tag", {**small, "env.kwargs.time_limit": 30})
    game = start(run, runs_dir, role="seeker", sampled=False)
    assert game.cast == {"seeker": "person", "hider": "learner"}
    state = step(game, "up", steps=30)
    trace = trace_of(state.episode)
    assert isinstance(trace, MatchTrace)
    saved = checkpoint.find(run.path, str(trace.version))
    hider = greedy_player(load_policy(saved, "hider"))
    assert state.episode is not None
    with closing(OpenMatch(state.episode.address)) as match:
        assert match.replay.is_exact
        for t, action in enumerate(trace.actions["hider"]):
            obs = match.replay.obs["hider"][t]
            assert np.array_equal(hider(obs, np.empty(0), np.empty(0)), action)
        # The policy of the person's role is there to compare.
        assert match.player("seeker").policy is not None
