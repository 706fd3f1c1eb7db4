"""Foreign runs are recognized by their content, get the names of gymnast, and are never guessed."""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from pathlib import Path
from statistics import fmean, pstdev
from types import SimpleNamespace

import pytest

from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.foreign.libraries import LIBRARIES
from gymnast.foreign.open import open_foreign
from gymnast.foreign.reference import is_foreign_name, names_foreign_run
from gymnast.metrics.explain import catalog
from gymnast.metrics.specs import split_key
from tests.foreign.runs import (
    ALL,
    CLEANRL,
    EVENTS,
    FIXTURE,
    LARGE_ENT_COEF,
    LARGE_LR,
    PPO,
    SB3,
    WANDB,
    opened,
)


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda one: one.name)
def test_every_name_is_mapped_to_a_declared_metric(library) -> None:
    known = catalog()
    for metric in library.metrics.values():
        assert split_key(metric.key)[1] in known
    assert not {*library.metrics} & {*library.unused}


def test_rows_of_progress_csv_have_the_numbers_of_the_file() -> None:
    with (LARGE_LR / "progress.csv").open() as file:
        expected = list(csv.DictReader(file))
    run = opened(LARGE_LR)
    assert len(run.rows) == len(expected)
    for row, theirs in zip(run.rows, expected, strict=True):
        assert row["clock/env_steps"] == float(theirs["time/total_timesteps"])
        assert row["episode/return"] == float(theirs["rollout/ep_rew_mean"])
        assert row["clock/rollouts"] == float(theirs["time/iterations"])
        if theirs["train/entropy_loss"]:
            assert row["policy/entropy"] == -float(theirs["train/entropy_loss"])
            assert row["policy/kl"] == float(theirs["train/approx_kl"])
        else:
            assert "policy/kl" not in row  # missing, not zero
    assert (run.env, run.threshold, run.n_actions) == ("", None, None)


def test_the_event_file_and_the_csv_of_one_training_give_the_same_metrics() -> None:
    by_events, by_csv = opened(EVENTS), opened(PPO)
    assert [row["clock/env_steps"] for row in by_events.rows] == [
        row["clock/env_steps"] for row in by_csv.rows
    ]
    for ours, theirs in zip(by_events.rows, by_csv.rows, strict=True):
        shared = (ours.keys() & theirs.keys()) - {"clock/seconds"}
        assert all(math.isclose(ours[k], theirs[k], rel_tol=1e-6, abs_tol=1e-7) for k in shared)
        assert {k for k in theirs if k.startswith(("policy/", "value/", "eval:"))} - shared == (
            {"policy/entropy_share"}
            & theirs.keys()  # only the CSV file has a Monitor file next to it
        )


def test_returns_of_episodes_become_means_over_the_last_100_of_them() -> None:
    from gymnast.foreign.event_file import read_events

    logged = read_events(CLEANRL.read_bytes()).logged
    name = "charts/episodic_return"
    ended = [(e.step, e.values[name]) for e in logged if name in e.values]
    run = opened(CLEANRL)
    for row in run.rows:
        recent = [value for step, value in ended if step <= row["clock/env_steps"]][-100:]
        assert math.isclose(row["episode/return"], fmean(recent))
        assert math.isclose(row["episode/return_std"], pstdev(recent), abs_tol=1e-9)
        assert row["episode/count"] == len(recent)
    assert len(run.rows) == sum("losses/value_loss" in e.values for e in logged)


def test_units_and_signs_are_converted() -> None:
    from gymnast.foreign.event_file import read_events

    logged = read_events(CLEANRL.read_bytes()).logged
    theirs = [e.values["losses/value_loss"] for e in logged if "losses/value_loss" in e.values]
    assert [row["value/loss"] for row in opened(CLEANRL).rows] == [2 * v for v in theirs]
    share = [row["policy/entropy_share"] for row in opened(CLEANRL).rows]
    entropy = [e.values["losses/entropy"] for e in logged if "losses/entropy" in e.values]
    assert share == [value / math.log(2) for value in entropy]  # two actions


def test_hyperparameters_come_from_texts_configs_and_saved_models() -> None:
    for file in (CLEANRL, WANDB):
        run = opened(file)
        assert (run.env, run.seed, run.threshold) == ("CartPole-v1", 1, 475.0)
        assert run.settings["algo.entropy_coef"] == 0.01
        assert run.settings["env.n_envs"] == 4
        assert run.rows[-1]["progress/share"] == run.env_steps / 15_000
    assert opened(LARGE_ENT_COEF).settings["algo.entropy_coef"] == 5.0
    assert opened(LARGE_ENT_COEF).n_actions == 2
    # SB3 logs only these two
    assert opened(LARGE_LR).settings == {"algo.lr": 0.05, "algo.clip": 0.2}


def test_episodes_of_monitor_files_are_ordered_by_their_ends(tmp_path: Path) -> None:
    for i, (start, ends) in enumerate([(0.0, (1.0, 5.0)), (2.0, (1.0, 2.0))]):
        rows = "".join(f"{10 * i + k}.0,{k + 1},{t}\n" for k, t in enumerate(ends))
        head = json.dumps({"t_start": start, "env_id": "CartPole-v1"})
        (tmp_path / f"{i}.monitor.csv").write_text(f"#{head}\nr,l,t\n{rows}")
    run = opened(tmp_path)
    # ends at 1 (length 1), 3 (1), 4 (2) and 5 (2)
    assert [row["clock/env_steps"] for row in run.rows] == [1, 2, 4, 6]
    assert [row["episode/return"] for row in run.rows] == [0.0, 5.0, 7.0, 5.5]
    assert run.env == "CartPole-v1"


def test_a_later_event_file_replaces_what_it_logged_again(tmp_path: Path) -> None:
    whole = EVENTS.read_bytes()
    (tmp_path / "events.out.tfevents.1").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "events.out.tfevents.2").write_bytes(whole)
    run = opened(tmp_path)
    assert [row["episode/return"] for row in run.rows if "episode/return" in row] == [
        row["episode/return"] for row in opened(EVENTS).rows if "episode/return" in row
    ]
    assert any("starts at step" in problem for problem in run.problems)


def test_a_cut_csv_file_is_read_without_its_last_line(tmp_path: Path) -> None:
    text = (LARGE_LR / "progress.csv").read_text()
    (tmp_path / "progress.csv").write_text(text[:-5])
    run = opened(tmp_path)
    assert len(run.rows) == len(opened(LARGE_LR).rows) - 1
    assert "is cut" in run.problems[0]


def test_a_csv_file_is_read_up_to_a_row_of_another_width(tmp_path: Path) -> None:
    lines = (LARGE_LR / "progress.csv").read_text().splitlines(keepends=True)
    lines[10] = "1,2,3\n"
    (tmp_path / "progress.csv").write_text("".join(lines))
    run = opened(tmp_path)
    assert len(run.rows) == 9
    assert "line 11" in run.problems[0]


def test_nan_in_a_loss_is_kept_and_nan_of_constant_targets_is_missing(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,rollout/ep_rew_mean,train/value_loss,train/explained_variance\n"
        "100,1.0,nan,nan\n200,1.0,0.5,\n"
    )
    first, second = opened(tmp_path).rows
    assert math.isnan(first["value/loss"])
    assert "value/explained_variance" not in first
    assert second["value/loss"] == 0.5


def test_a_folder_with_several_runs_lists_them() -> None:
    with pytest.raises(RunError, match="has 5 runs") as caught:
        open_foreign(str(SB3))
    assert all(name in caught.value.message for name in ("ppo_large_lr", "dqn"))


def test_a_folder_with_one_run_somewhere_below_is_that_run() -> None:
    assert opened(FIXTURE / "wandb").id == "CartPole-v1__ppo__1__1794962185"


@pytest.mark.parametrize("name", ["notes.txt", "folder", "events.out.tfevents.1", "data.csv"])
def test_an_unknown_format_is_an_error_with_all_that_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    else:
        path.write_text("hello")
    with pytest.raises(RunError) as caught:
        open_foreign(str(path))
    assert all(word in caught.value.fix for word in ("TensorBoard", "progress.csv", "W&B", "--map"))


def test_unknown_names_are_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("step,score\n1,2\n")
    with pytest.raises(RunError, match="no metric with a known name; it has step, score") as caught:
        open_foreign(str(tmp_path))
    assert "--map" in caught.value.fix


def test_a_column_map_names_the_metrics_of_any_program(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("frames,score\n100,1.5\n200,2.5\n")
    (tmp_path / "map.yaml").write_text(
        "columns:\n  clock/env_steps: frames\n  episode/return: score\n"
    )
    run = opened(tmp_path / "log.csv", column_map=str(tmp_path / "map.yaml"))
    assert [(row["clock/env_steps"], row["episode/return"]) for row in run.rows] == [
        (100.0, 1.5),
        (200.0, 2.5),
    ]
    with pytest.raises(GymnastError, match=r"cannot be read|none of the names"):
        open_foreign(str(EVENTS), _options(column_map=str(tmp_path / "map.yaml")))


def test_an_entropy_above_the_maximum_is_reported(tmp_path: Path) -> None:
    text = (LARGE_LR / "progress.csv").read_text()
    assert "-0.5930213514191565" in text
    changed = text.replace("-0.5930213514191565", "-1.5")
    (tmp_path / "progress.csv").write_text(changed)
    run = opened(tmp_path, env="CartPole-v1")
    assert run.n_actions is None
    assert any("more than 2 actions allow" in note for note in run.notes)


def test_a_run_of_gymnast_and_a_name_are_not_foreign(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    shutil.copy(LARGE_LR / "progress.csv", tmp_path)
    for ref in (str(tmp_path), "ppo_sb3", "@last", "nowhere/else", "runs/abc:best", "base.zip"):
        assert not names_foreign_run(ref)
        with pytest.raises(RunError, match="names no foreign run"):
            open_foreign(ref)
    with pytest.raises(RunError, match="does not exist"):
        names_foreign_run("nowhere/progress.csv")


@pytest.mark.parametrize("path", ALL, ids=str)
def test_files_are_recognized_by_their_names_alone_or_are_paths(path: Path) -> None:
    assert is_foreign_name(str(path)) or "/" in str(path)


class _Api:
    """A stand-in for `wandb.Api`, with the history of the fixture."""

    def run(self, path: str) -> SimpleNamespace:
        if path != "team/project/abc":
            raise ValueError(f"Could not find run {path}")
        from gymnast.foreign.wandb_file import read_wandb

        content = read_wandb(WANDB.read_bytes())
        rows = [{**e.values, "_step": e.step, "_timestamp": e.time} for e in content.logged]
        return SimpleNamespace(
            name="ppo", state="finished", config=content.config, scan_history=lambda: rows
        )


@pytest.fixture
def wandb_online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(Api=_Api))


@pytest.mark.usefixtures("wandb_online")
def test_a_run_on_the_server_of_wandb_is_that_of_its_offline_file() -> None:
    online = opened("wandb:team/project/abc")
    assert online.rows == opened(WANDB).rows
    assert (online.id, online.ended) == ("ppo", True)


def test_calls_of_wandb_are_not_taken_for_env_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"charts/episodic_return": 1.0, "losses/entropy": 0.5, "_step": i} for i in range(9)]
    run = SimpleNamespace(name="a", state="finished", config={}, scan_history=lambda: rows)
    api = SimpleNamespace(Api=lambda: SimpleNamespace(run=lambda _: run))
    monkeypatch.setitem(sys.modules, "wandb", api)
    with pytest.raises(RunError, match="has no env steps") as caught:
        open_foreign("wandb:team/project/a")
    assert "--map" in caught.value.fix


@pytest.mark.usefixtures("wandb_online")
@pytest.mark.parametrize("ref", ["wandb:team/project/other", "wandb:team"])
def test_a_run_that_wandb_does_not_have_is_an_error(ref: str) -> None:
    with pytest.raises(RunError) as caught:
        open_foreign(ref)
    assert caught.value.fix


def test_without_the_package_a_run_on_the_server_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(GymnastError) as caught:
        open_foreign("wandb:team/project/abc")
    assert "gymnast[wandb]" in caught.value.fix


def _options(**options):
    from gymnast.foreign.reference import ForeignOptions

    return ForeignOptions(**options)


def test_reading_imports_neither_torch_nor_tensorboard_nor_wandb() -> None:
    import subprocess

    code = (
        "import sys; from gymnast import api;"
        f" [api.doctor(path) for path in {[str(path) for path in (PPO, EVENTS, WANDB)]}];"
        " print([m for m in ('torch', 'gymnasium', 'tensorboard', 'wandb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_options_for_a_run_of_gymnast_are_refused(tmp_path: Path) -> None:
    from gymnast import api

    with pytest.raises(UsageError, match="is a run of gymnast"):
        api.doctor("@last", env="CartPole-v1", runs_dir=tmp_path)
