"""Foreign runs in comparisons and reviews, and where servers refuse them."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import UsageError
from gymnast.runs.curve import read_rows
from gymnast.runs.run import Run
from gymnast.serving.references import path_refusal
from tests.cli_output import cli_output
from tests.foreign.runs import ALL, CLEANRL, EVENTS, FIXTURE, LARGE_LR, PPO
from tests.small_runs import train_small


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def own_run(runs_dir: Path) -> Run:
    return train_small("CartPole-v1", {"stop.env_steps": 8192}, runs_dir=runs_dir)


def test_every_run_keeps_its_own_env_steps(own_run: Run, runs_dir: Path) -> None:
    found = api.compare([str(LARGE_LR), str(CLEANRL), own_run.id], runs_dir=runs_dir)
    assert found.x == "env_steps"
    with (LARGE_LR / "progress.csv").open() as file:
        theirs = [float(row["time/total_timesteps"]) for row in csv.DictReader(file)]
    assert found.runs[0].curve.x == theirs
    own = [row for row in read_rows(own_run) if "episode/return" in row]
    assert found.runs[2].curve.x == [row["clock/env_steps"] for row in own]
    assert found.runs[1].curve.x not in (theirs, found.runs[2].curve.x)


def test_without_evaluations_training_returns_are_compared_with_a_note(
    own_run: Run, runs_dir: Path
) -> None:
    found = api.compare([str(LARGE_LR), own_run.id], env="CartPole-v1", runs_dir=runs_dir)
    assert found.score_kind == "training"
    own = [row["episode/return"] for row in read_rows(own_run) if "episode/return" in row]
    assert found.runs[1].curve.y == own
    assert found.runs[1].final == own[-1]
    assert "training returns are compared" in found.notes[0]
    assert str(LARGE_LR) in found.notes[0]


def test_evaluations_are_compared_if_every_foreign_run_has_some(
    own_run: Run, runs_dir: Path
) -> None:
    found = api.compare([str(PPO), own_run.id], runs_dir=runs_dir)
    assert found.score_kind == "evaluation"
    assert found.runs[0].curve.x == [10_000, 20_000, 30_000, 40_000, 50_000]
    assert found.runs[0].final == 500.0
    assert any("neither their seeds nor their number" in note for note in found.notes)
    assert any("runs of gymnast: evaluations on fixed seeds" in note for note in found.notes)


def test_only_settings_that_are_recorded_are_compared(own_run: Run, runs_dir: Path) -> None:
    found = api.compare([own_run.id, str(CLEANRL)], runs_dir=runs_dir)
    values = {entry.key: entry.values for entry in found.config}
    assert values["env.n_envs"][1] == 4
    found = api.compare([own_run.id, str(CLEANRL), str(LARGE_LR)], runs_dir=runs_dir)
    assert {entry.key for entry in found.config} <= {"algo.lr", "algo.clip"}


def test_foreign_runs_can_be_joined_to_a_group(tmp_path: Path) -> None:
    found = api.compare(
        [f"{EVENTS}+{CLEANRL}", str(LARGE_LR)], env="CartPole-v1", runs_dir=tmp_path
    )
    assert [group.runs for group in found.groups] == [2, 1]
    pair = found.improvements[0]
    assert pair.better == f"{EVENTS}+{CLEANRL}"
    assert pair.exceeds_noise is None  # one seed on the other side


def test_runs_whose_folders_have_the_same_name_have_their_paths_as_ids(tmp_path: Path) -> None:
    found = api.compare([str(PPO), str(PPO / "monitor.csv")], runs_dir=tmp_path)
    assert [run.id for run in found.runs] == [str(PPO), str(PPO / "monitor.csv")]


def test_a_clock_that_a_foreign_run_does_not_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not record updates"):
        api.compare([str(PPO), str(LARGE_LR)], "updates", runs_dir=tmp_path)


def test_unknown_environments_are_not_compared(tmp_path: Path) -> None:
    found = api.compare([str(LARGE_LR), str(CLEANRL)], runs_dir=tmp_path)
    assert found.improvements[0].better is None
    assert found.improvements[0].problem
    assert any("its environment is unknown" in note for note in found.notes)


def test_the_command_shows_the_kind_of_score_and_the_notes(tmp_path: Path) -> None:
    text = cli_output("compare", str(LARGE_LR), str(CLEANRL), "--runs", str(tmp_path))
    assert "final: the last training return" in text
    assert "note: training returns are compared" in text
    assert "mean training return over" in text


def test_the_contents_of_a_review_of_a_foreign_run_are_listed(tmp_path: Path) -> None:
    contents = api.review_contents(str(LARGE_LR), runs_dir=tmp_path)
    assert [part.name for part in contents.parts] == [
        "about",
        "run",
        "diagnosis",
        "settings",
        "charts",
        "metrics",
        "names",
    ]


@pytest.mark.slow
def test_a_review_of_a_foreign_run_has_what_its_files_have(tmp_path: Path) -> None:
    file = tmp_path / "review.md"
    cli_output("review", str(LARGE_LR), "--out", str(file), "--runs", str(tmp_path))
    text = file.read_text()
    assert "| `policy/entropy` | `train/entropy_loss` | times -1" in text
    assert "not checked: many hidden units are dead" in text
    assert "The files do not record n_steps" in text
    assert str(Path.home()) not in text
    assert not list(LARGE_LR.glob("*review*"))  # the folder belongs to another program


def test_a_review_of_an_episode_of_a_foreign_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no stored episodes"):
        api.review_contents(str(LARGE_LR), number=0, runs_dir=tmp_path)


@pytest.mark.parametrize("operation", ["doctor", "compare", "review", "review_contents"])
@pytest.mark.parametrize(
    "ref",
    [
        *map(str, ALL),
        str(FIXTURE),
        "progress.csv",
        "events.out.tfevents.1.host",
        "run-abc.wandb",
        "wandb:entity/project/run",
        "wandb:run",
        "./sb3",
        "a+progress.csv",
    ],
)
def test_servers_refuse_every_reference_to_a_foreign_run(operation: str, ref: str) -> None:
    arguments: dict[str, object] = {"ref": ref} if operation != "compare" else {"refs": [ref, "a"]}
    refusal = path_refusal(operation, arguments)
    assert refusal is not None
    assert refusal.code == "usage"


def test_names_and_ids_of_runs_are_not_refused() -> None:
    for ref in ("k3jx", "@last", "my-run", "wandb", "csv", "a+b"):
        assert path_refusal("doctor", {"ref": ref}) is None


def test_the_area_is_that_of_the_shared_range(tmp_path: Path) -> None:
    found = api.compare([str(LARGE_LR), str(CLEANRL)], runs_dir=tmp_path)
    low, high = found.range or (0.0, 0.0)
    assert (low, high) == (2_048, 14_848)
    xs, ys = found.runs[0].curve.x, found.runs[0].curve.y
    import numpy as np

    grid = np.linspace(low, high, 100_001)
    assert math.isclose(found.runs[0].area or 0, np.interp(grid, xs, ys).mean(), rel_tol=1e-4)


@pytest.mark.slow
def test_the_answer_of_a_command_about_a_foreign_run_is_printed_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text('review:\n  outline:\n    command: [grep, "^##"]\n')
    monkeypatch.setenv("GYMNAST_SETTINGS", str(settings))
    monkeypatch.chdir(tmp_path)
    text = cli_output("review", str(CLEANRL), "--yes", "--runs", str(tmp_path / "runs"))
    assert "## Diagnosis by gymnast" in text
    assert "not stored, because" in text
    assert [file.name for file in tmp_path.iterdir()] == ["settings.yaml"]
    assert [file.name for file in CLEANRL.parent.iterdir()] == [CLEANRL.name]
