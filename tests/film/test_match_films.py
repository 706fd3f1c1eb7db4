"""Films of stored matches between roles, as made by `gymnast video`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli.runs import show
from gymnast.cli.video import video
from gymnast.config.config import Config
from gymnast.config.resolve import resolve, save
from gymnast.envs.matches.open import open_matches
from gymnast.errors import RunError, UsageError
from gymnast.film import worker
from gymnast.film.make import FilmOptions
from gymnast.film.matches.band import MatchBand
from gymnast.film.matches.choose import ChosenMatch, choose_matches
from gymnast.film.matches.films import film_match
from gymnast.film.matches.replay import MatchFrame, MatchRenderer, match_frames, replay_match
from gymnast.film.record import Film
from gymnast.film.replay import ReplayMismatch
from gymnast.runs import films
from gymnast.runs.match_trace import MatchTrace, read_matches, write_matches
from gymnast.runs.run import Run
from tests.film.film_envs import decode_film

SHORT = {"env.kwargs": {"time_limit": 9}}
TAG = {"tag": "seeker", "timeout": "hider", "truce": ""}
"""Outcome -> role that wins."""
STEP = 1024


def config(**settings: Any) -> Config:
    return resolve("tag", SHORT | {"facts.fps": 5} | settings).config


def played(
    cfg: Config,
    seed: int,
    *,
    cast: Mapping[str, str] | None = None,
    slow: Mapping[str, float] | None = None,
) -> MatchTrace:
    """Returns a match of random actions, recorded independently of the code under test."""
    rng = np.random.default_rng(seed)
    with closing(open_matches(cfg, 1)) as matches:
        for role, factor in (slow or {}).items():
            matches.handicap(role, factor)  # type: ignore[attr-defined]
        matches.reset([0], [seed])
        done: list[dict[str, np.ndarray]] = []
        got: list[dict[str, np.ndarray]] = []
        while True:
            act = {
                role: rng.integers([0, 1, 0], [3, 3, 2], (1, kind.seats, 3))  # never backward
                for role, kind in matches.roles.items()
            }
            step = matches.step(act)
            done.append({role: a[0] for role, a in act.items()})
            got.append({role: step.reward[role][0].copy() for role in act})
            if step.over[0]:
                break
        return MatchTrace(
            seed=seed,
            actions={role: np.stack([one[role] for one in done]) for role in matches.roles},
            rewards={role: np.stack([one[role] for one in got]) for role in matches.roles},
            cast=dict(cast or dict.fromkeys(matches.roles, "learner")),
            outcome=list(matches.outcomes)[int(step.outcome[0])],
            version=STEP,
            numbers={},
        )


def a_run(at: Path, traces: list[MatchTrace], kind: str = "eval") -> Run:
    resolved = resolve("tag", SHORT | {"facts.fps": 5})
    made = Run.create(
        at,
        config_text=save(resolved.config),
        preset="tag:selfplay",
        seed=0,
        provenance={},
        env="tag",
    )
    made.update(status="finished", checkpoints={"best": STEP, "latest": STEP})
    write_matches(made.matches / f"{kind}-{STEP:012d}.safetensors", traces, {})
    return made


def against(role: str, who: str) -> dict[str, str]:
    other = {"seeker": "hider", "hider": "seeker"}[role]
    return {role: "learner", other: who}


@pytest.fixture
def run(runs_dir: Path) -> Run:
    """Returns a run with two matches of each role against two opponents; no hider is caught."""
    casts = [against(role, f"scripted:{name}") for role in ("seeker", "hider") for name in "ab"]
    return a_run(runs_dir, [played(config(), seed, cast=c) for c in casts for seed in (1, 2)])


def typed(run: Run, *words: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(video, [run.id, *words, "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)["films"]


def test_every_pairing_is_filmed_described_and_listed(run: Run):
    made = typed(run)
    names = [Path(film["path"]).stem for film in made]
    pairs = ("seeker-a-lost", "seeker-b-lost", "hider-a-won", "hider-b-won")
    assert names == [f"eval-{STEP:012d}-{pair}" for pair in pairs]
    for film in made:
        frames, stream = decode_film(Path(film["path"]))
        assert stream["fps"] == 5
        assert len(frames) == film["frames"] == 9 + 1 + 5
        assert film["exact"]
        assert films.read_description(Path(film["path"]))["cast"] == film["cast"]
    frames, _ = decode_film(Path(made[0]["path"]))
    assert np.abs(frames[0].astype(int) - frames[9]).max() > 100
    (first, *_) = read_matches(run.matches / f"eval-{STEP:012d}.safetensors")
    assert made[0]["returns"] == {role: got.sum() for role, got in first.rewards.items()}

    assert all(film.is_best for film in api.show(run.id).videos)
    page = CliRunner().invoke(show, [run.id], standalone_mode=False).stdout
    assert f"best    {made[0]['path']}  return seeker " in page


@pytest.mark.usefixtures("tasks_here")
def test_a_number_selects_one_match_with_its_own_file_and_frame_rate(run: Run, tmp_path: Path):
    (film,) = typed(run, "--episode", "3", "--fps", "2", "--out", str(tmp_path / "x.mp4"))
    assert (film["episode"], film["seed"], film["cast"]) == (3, 2, against("seeker", "scripted:b"))
    assert len(decode_film(tmp_path / "x.mp4")[0]) == 9 + 1 + 2
    assert not (run.path / "videos").exists()


@pytest.mark.usefixtures("tasks_here")
def test_a_grid_of_a_match_shows_eight_frames(run: Run, tmp_path: Path):
    typed(run, "--episode", "0", "--grid", str(tmp_path / "grid.png"))
    picture = pygame.surfarray.array3d(pygame.image.load(tmp_path / "grid.png")).swapaxes(0, 1)
    height, width = picture.shape[:2]
    assert width == 4 * 320 + 3 * 6
    tiles = [picture[: height // 2 - 3, 326 * i : 326 * i + 320] for i in range(4)]
    assert all(not np.array_equal(a, b) for a, b in pairwise(tiles))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x.mp4"], "--out is for one match"),
        (["--grid", "x.png"], "--grid is for one match"),
        (["--learning"], "--learning does not support matches"),
        (["--episode", "8"], "a number from 0 to 7"),
    ],
)
@pytest.mark.usefixtures("tasks_here")
def test_unsupported_options_for_matches_are_rejected(run: Run, words: list[str], said: str):
    done = CliRunner().invoke(video, [run.id, *words])
    assert isinstance(done.exception, UsageError)
    assert said in done.exception.message
    assert not (run.path / "videos").exists()


@pytest.mark.usefixtures("tasks_here")
def test_a_modified_match_is_filmed_with_a_note(run: Run):
    file = run.matches / f"eval-{STEP:012d}.safetensors"
    first, *others = read_matches(file)
    rewards = {role: got.copy() for role, got in first.rewards.items()}
    rewards["hider"][2] += 1e-9
    write_matches(file, [replace(first, rewards=rewards), *others], {})
    wrong, *right = typed(run)
    assert wrong["note"] == "this replay differs from the recorded match, from step 3"
    assert not wrong["exact"]
    assert all(film["exact"] for film in right)
    frames, _ = decode_film(Path(wrong["path"]))
    assert len(frames) == 9 + 1 + 5
    assert frames.shape[1] > decode_film(Path(right[0]["path"]))[0].shape[1]  # a line more


@pytest.mark.parametrize("change", ["length", "outcome"])
def test_a_match_that_ends_differently_is_detected(change: str):
    trace, cfg = played(config(), 1), config()
    if change == "length":
        cut = {role: taken[:-1] for role, taken in trace.actions.items()}
        longer = {role: np.repeat(taken, 2, 0) for role, taken in trace.actions.items()}
        paid = {role: np.repeat(got, 2, 0) for role, got in trace.rewards.items()}
        others = [replace(trace, actions=cut), replace(trace, actions=longer, rewards=paid)]
    else:
        others = [replace(trace, outcome="tag")]
    with closing(MatchRenderer(cfg)) as stage:
        replay_match(stage, trace)
        for other in others:
            with pytest.raises(ReplayMismatch):
                replay_match(stage, other)
            *_, last = match_frames(stage, other, strict=False)
            assert last.ending
            assert last.step <= 9


def stored(run: Run, **more: Any) -> list[str]:
    return [one.selection for one in choose_matches(run, TAG, **more)]


def test_the_first_match_of_each_pairing_and_result_is_selected(runs_dir: Path):
    one = played(config(), 1)

    def match(cast: dict[str, str], outcome: str) -> MatchTrace:
        return replace(one, cast=cast, outcome=outcome)

    weak, both = against("seeker", "scripted:weak"), dict.fromkeys(one.cast, "learner")
    run = a_run(
        runs_dir,
        [
            match(weak, "timeout"),
            match(weak, "timeout"),
            match(weak, "tag"),
            match(weak, "truce"),
            match(weak, ""),
            match(against("hider", "step:4096"), "tag"),
            match(against("hider", "step:8192"), "tag"),
            match(both, "tag"),
            match(both, "timeout"),
            match(against("hider", "../x:y/z"), "tag"),
        ],
    )
    chosen = choose_matches(run, TAG)
    assert {one.selection: one.index for one in chosen} == {
        "seeker-weak-lost": 0,
        "seeker-weak-won": 2,
        "seeker-weak-drawn": 3,
        "seeker-weak": 4,
        "hider-past-lost": 5,
        "together-seeker-won": 7,
        "together-hider-won": 8,
        "hider-y_z-lost": 9,
    }
    assert stored(run, episode="6") == ["6"]


def test_versions_of_matches_are_selected_like_those_of_episodes(runs_dir: Path):
    run = a_run(runs_dir, [played(config(), 1)])
    newer = run.matches / f"eval-{2 * STEP:012d}.safetensors"
    write_matches(newer, [played(config(), 2)], {})
    versions = {word: choose_matches(run, TAG, word)[0].version for word in ("best", "last", "0")}
    assert versions == {"best": STEP, "last": 2 * STEP, "0": STEP}
    assert choose_matches(run, TAG, checkpoint="latest")[0].version == 2 * STEP
    with pytest.raises(RunError, match="no train matches are stored"):
        choose_matches(run, TAG, kind="train")


@pytest.fixture
def slowed() -> Iterator[MatchRenderer]:
    remedies = {"league.balance.remedies": ["handicap"], "league.balance.handicap": 0.5}
    with closing(MatchRenderer(config(**remedies), training=True)) as stage:
        yield stage


def filmed(stage: MatchRenderer, trace: MatchTrace, at: Path) -> Film:
    return film_match(stage, ChosenMatch("train", STEP, "x", 0, trace), FilmOptions(at / "x.mp4"))


def test_the_handicap_of_a_training_match_is_found_by_its_replay(
    slowed: MatchRenderer, tmp_path: Path
):
    for role in ("hider", "seeker", ""):
        slow = {role: 0.5} if role else {}
        about = filmed(slowed, played(config(), 3, slow=slow), tmp_path)
        assert (about.exact, about.handicap) == (True, slow)


def test_if_no_known_handicap_replays_the_match_the_note_mentions_it(
    slowed: MatchRenderer, tmp_path: Path
):
    strange = played(config(), 3, slow={"hider": 0.7})
    about = filmed(slowed, strange, tmp_path)
    assert about.note.endswith("the match may have had another handicap")
    assert not about.exact
    with closing(MatchRenderer(config())) as plain:
        about = filmed(plain, strange, tmp_path)
    assert "handicap" not in about.note
    assert not about.exact


def test_the_return_of_a_role_is_the_mean_over_its_agents():
    cfg = config(**{"env.kwargs": {"time_limit": 9, "hiders": 3, "seekers": 2}})
    trace = played(cfg, 1)
    with closing(MatchRenderer(cfg)) as stage:
        *_, last = match_frames(stage, trace, strict=True)
    for role, got in trace.rewards.items():
        assert last.returns[role] == pytest.approx(got.sum(0).mean())


PICTURE = np.zeros((40, 480, 3), np.uint8)
SHOT = MatchFrame(PICTURE, 3, {"seeker": 0.5, "hider": -0.5})


@pytest.mark.parametrize(
    "change",
    [{"step": 4}, {"returns": {"seeker": 0.5, "hider": 0.5}}, {"ending": "tag: seeker has won"}],
    ids=lambda change: next(iter(change)),
)
def test_every_change_of_a_shot_changes_the_band(change: dict):
    trace = played(config(), 1)
    band = MatchBand(480, trace, trace.cast, {}, "")
    assert not np.array_equal(band.draw(SHOT), band.draw(replace(SHOT, **change)))


def test_the_player_is_shown_in_the_color_of_the_role():
    trace = played(config(), 1)
    colors = {"seeker": (255, 0, 0), "hider": (0, 0, 255)}
    drawn = {
        who: MatchBand(480, trace, against("seeker", who), colors, "").draw(SHOT)
        for who in ("scripted:weak", "step:4096")
    }
    one, other = drawn.values()
    assert not np.array_equal(one, other)
    assert np.array_equal(one[:, :310], other[:, :310])  # nothing else has changed
    red, _, blue = np.moveaxis(one.astype(int), -1, 0)
    assert (red - blue)[:, 150:310].max() > 200 < (blue - red)[:, 310:].max()


@pytest.mark.parametrize("width", [320, 480, 1920])
def test_any_number_of_roles_fits_any_width(width: int):
    roles = [f"a rather long role {i}" for i in range(12)]
    trace = replace(played(config(), 1), cast=dict.fromkeys(roles, "scripted:medium"))
    shot = replace(SHOT, returns=dict.fromkeys(roles, -1234.5))
    assert MatchBand(width, trace, trace.cast, {}, "a note").draw(shot).shape[1] == width


def test_the_background_worker_films_matches_once(run: Run, capsys: pytest.CaptureFixture[str]):
    worker.film_run(run)
    assert capsys.readouterr().out.count("frames") == 4
    worker.film_run(run)
    assert capsys.readouterr().out == ""
    assert len(list((run.path / "videos").glob("*.mp4"))) == 4


def test_the_background_worker_prints_that_no_match_is_stored(
    run: Run, capsys: pytest.CaptureFixture[str]
):
    for file in run.matches.iterdir():
        file.unlink()
    worker.film_run(run)
    assert "no eval matches are stored" in capsys.readouterr().out
