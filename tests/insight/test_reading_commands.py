"""The commands `runs`, `show`, `rows` and `compare`."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.errors import GymnastError
from gymnast.metrics.export import to_csv
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.cli_output import cli_output

Record = Callable[..., Run]
SCORE = {"mean": 1 / 3, "low": 0.1 + 0.2, "high": 0.5, "episodes": 100}


@pytest.fixture
def ask(runs_dir: Path) -> Callable[..., str]:
    return lambda *words: cli_output(*words, "--runs", str(runs_dir))


@pytest.fixture
def run(record: Record) -> Run:
    """A run with checkpoints, an alert, an event and a score."""
    made = record([10.0, 20.0, 480.0], name="try-1", tags=["paper"], score=SCORE)
    for step in (0, 512, 1024):
        checkpoint.write(
            made.checkpoints,
            step,
            tensors={"policy": {"w": np.full(3, float(step))}},
            documents={"state": {"lr": 5e-4}},
            reason="cadence",
        )
    alert = {"id": "policy/kl:high", "level": "warning", "message": "policy/kl is high"}
    alert |= {"advice": "lower algo.lr", "first": 256, "last": 512, "count": 9, "active": True}
    made.update(
        reason="solved", solved=True, checkpoints={"best": 512, "latest": 1024}, alerts=[alert]
    )
    made.record_event("confirmed", {"env_steps": 1024, "rollouts": 4}, score=SCORE)
    return made


def test_a_missing_runs_folder_is_an_empty_list(ask: Callable[..., str], runs_dir: Path):
    assert ask("runs").startswith("no runs in ")
    assert json.loads(ask("runs", "--json"))["runs"] == []
    assert not runs_dir.exists()


def test_runs_prints_one_line_per_run(ask: Callable[..., str], run: Run, record: Record):
    other = record([None], seed=7)
    head, newest, oldest = ask("runs").splitlines()
    assert head.split()[:4] == ["id", "name", "preset", "status"]
    assert newest.startswith(other.id)
    for text in (run.id, "try-1", "CartPole-v1:ppo #0", "finished", "0.33 [0.30, 0.50]", "1.54k"):
        assert text in oldest
    assert len(ask("runs", "paper").splitlines()) == 2
    assert "no runs that match" in ask("runs", "nothing-like-it")
    assert [r["id"] for r in json.loads(ask("runs", "--json", "seed=7"))["runs"]] == [other.id]


def test_an_unreadable_run_is_listed_and_an_error_in_show(
    ask: Callable[..., str], run: Run, record: Record
):
    bad = record([None])
    (bad.path / "run.json").write_text('{"version": 99}')
    listed = ask("runs")
    assert run.id in listed
    assert "unreadable" in listed
    assert "run format 99 is not known" in listed
    with pytest.raises(GymnastError, match="run format 99"):
        ask("show", bad.id)


def test_show_json_has_every_documented_key(ask: Callable[..., str], run: Run):
    shown = json.loads(ask("show", "@last", "--json"))
    promised = "id preset status reason solved score clocks seed config"
    for key in f"{promised} parent alerts events checkpoints".split():
        assert key in shown
    assert SCORE.items() <= shown["score"].items()  # bit for bit
    clocks = shown["clocks"]
    assert (clocks["env_steps"], clocks["vec_steps"], clocks["updates"]) == (1536, 192, 24)
    assert shown["config"]["env"]["id"] == "CartPole-v1"
    assert shown["alerts"][0]["id"] == "policy/kl:high"
    assert [event["kind"] for event in shown["events"]] == ["confirmed"]
    for word, step in (("best", 512), ("latest", 1024)):
        found = shown["checkpoints"][word]
        assert (found["step"], Path(found["path"]).name) == (step, f"{step:012d}")
        manifest = json.loads((Path(found["path"]) / "manifest.json").read_text())
        assert found["sha256"] == manifest["files"]["policy.safetensors"]
    assert json.loads(ask("show", f"{run.id}:best", "--json"))["checkpoint"]["step"] == 512


def test_show_prints_status_alerts_and_next_commands(ask: Callable[..., str], run: Run):
    page = ask("show", "try-1")
    for text in (
        f"run {run.id}  try-1  CartPole-v1:ppo  seed 0",
        "finished: solved",
        "over 100 episodes, threshold 475.0, solved",
        "10.0 -> 480.0 in 3 evaluations",
        "algo.batch_size",
        "policy/kl is high; active for 9 rows",
        "lower algo.lr",
        f"gymnast eval {run.id}:best",
    ):
        assert text in page
    assert "\x1b" not in page


def test_show_runs_and_compare_have_the_learning_summary(
    ask: Callable[..., str], run: Run, record: Record
):
    other = record([10.0, 20.0, 30.0], threshold=None)
    computed = json.loads(ask("show", run.id, "--json"))["learning"]
    assert (computed["steps_to_threshold"], computed["seconds_to_threshold"]) == (1024, 0.4)
    assert 0.98 < computed["area"] < 1, "at 475 from soon after the start of 100k steps"
    page = ask("show", run.id)
    assert "lower bound reached the threshold after 1,024 env steps, 0.4 s" in page
    assert "24 gradient steps, 6 rollouts" in page
    assert re.search(r"area under it 0.99 of 1 \(.*\), with 9\d% of the budget unused", page)
    without = json.loads(ask("show", other.id, "--json"))["learning"]
    assert without["area"] is None
    assert "learning mean return " in ask("show", other.id)

    def areas() -> list[str]:
        head, *lines = ask("runs").splitlines()
        end = head.index("area") + len("area")
        return [line[:end].split()[-1] for line in lines]

    assert areas() == ["-", "-"], "only run.json is read, and it has no learning summary"
    run.update(learning=computed | {"area": 0.625})
    assert areas() == ["-", "0.62"]
    assert json.loads(ask("show", run.id, "--json"))["learning"]["area"] == 0.625
    run.update(status="stopped", learning=computed)
    found = json.loads(ask("compare", run.id, other.id, "--json"))["runs"]
    assert [r["learning"] for r in found] == [computed, without]
    assert "1,024" in ask("compare", run.id, other.id)
    run.update(status="failed", learning=computed | {"area": 0.625})
    again = json.loads(ask("show", run.id, "--json"))["learning"]
    assert again["area"] != 0.625, "the summary of a run that has continued is computed again"
    assert again["unused"] == 0 < computed["unused"], (
        "the result of the rest of the budget is unknown"
    )


def test_show_reads_checkpoints_only_to_verify_them_and_lists_damaged_ones(
    ask: Callable[..., str], run: Run, monkeypatch: pytest.MonkeyPatch
):
    files = [run.checkpoints / f"{step:012d}" / "policy.safetensors" for step in (512, 1024)]
    for file in files:
        file.write_bytes(bytes(file.stat().st_size))  # another size is noticed without reading
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "read", None)
        assert json.loads(ask("show", "--json"))["checkpoints"]["latest"]["step"] == 1024
    verified = json.loads(ask("show", "--json", "--verify"))["checkpoints"]
    for file in files:
        file.unlink()
    shown = json.loads(ask("show", "--json"))["checkpoints"]
    assert len(verified["damaged"]) == len(shown["damaged"]) == 2
    assert verified | {"damaged": []} == shown | {"damaged": []}
    assert shown["latest"]["step"] == 0
    assert shown["best"] is None
    assert len([d for d in shown["damaged"] if "000000001024" in d]) == 1
    assert "DAMAGED" in ask("show")


def test_show_works_for_a_run_without_rows(ask: Callable[..., str], runs_dir: Path):
    Run.create(runs_dir, config_text="", preset="A-v0:ppo", seed=0, provenance={})
    assert "A-v0:ppo" in ask("show")
    shown = json.loads(ask("show", "--json"))
    assert (shown["score"], shown["clocks"], shown["checkpoints"]["latest"]) == (None, {}, None)


def test_rows_prints_all_digits_in_every_format(ask: Callable[..., str], run: Run):
    with MetricStore(run.path / "metrics.db") as store:
        expected, text = list(store.rows()), to_csv(store)
    assert ask("rows", run.id) == ask("rows", run.id, "--csv") == text
    assert json.loads(ask("rows", run.id, "--json"))["rows"] == expected
    read = csv.DictReader(io.StringIO(ask("rows", run.id)))
    assert [{k: float(v) for k, v in row.items() if v} for row in read] == expected


def test_rows_can_be_filtered_and_missing_values_stay_missing(ask: Callable[..., str], run: Run):
    words = ("rows", run.id, "--metric", "eval:episode/return", "--last", "2")
    lines = list(csv.DictReader(io.StringIO(ask(*words))))
    assert [line["eval:episode/return"] for line in lines] == ["", "480.0"]
    assert [line["clock/vec_steps"] for line in lines] == ["160.0", "192.0"]
    assert "policy/entropy" not in lines[0]
    rows = json.loads(ask(*words, "--json"))["rows"]
    assert "eval:episode/return" not in rows[0]
    assert rows[1]["eval:episode/return"] == 480.0
    with pytest.raises(GymnastError, match="did you mean policy/entropy"):
        ask("rows", run.id, "--metric", "policy/entropi")


def test_a_metric_that_only_earlier_rows_have_is_known(ask: Callable[..., str], run: Run):
    with MetricStore(run.path / "metrics.db", "w") as store:
        store.append({"clock/rollouts": 6.0, "eval:episode/return": 490.0})  # a late evaluation
    words = ("--metric", "policy/entropy", "--last", "1", "--json")
    (row,) = json.loads(ask("rows", run.id, *words))["rows"]
    assert row == {"clock/rollouts": 6.0}


def test_numbers_that_json_lacks_become_strings(ask: Callable[..., str], run: Run):
    run.update(score=SCORE | {"low": float("-inf")}, live={"algo.lr": [float("nan")]})
    shown = json.loads(ask("show", "--json"))
    assert (shown["score"]["low"], shown["live"]) == ("-inf", {"algo.lr": ["nan"]})


def test_compare_prints_scores_curves_and_settings(
    ask: Callable[..., str], run: Run, record: Record
):
    other = record([5.0, 6.0, 7.0], overrides={"algo.gamma": 0.5})
    page = ask("compare", run.id, other.id)
    assert "area: mean evaluation return over 0 to 128 vec_steps" in page
    assert f"● {run.id} try-1   ○ {other.id} CartPole-v1:ppo" in page
    assert "algo.gamma" in page
    found = json.loads(ask("compare", "try-1", other.id, "--x", "env_steps", "--json"))
    assert (found["x"], found["range"]) == ("env_steps", [0, 1024])
    assert [r["area"] for r in found["runs"]] == [132.5, 6.0]
    with pytest.raises(GymnastError, match="at least two"):
        ask("compare", run.id)


@pytest.mark.parametrize("verb", ["runs", "show", "rows", "compare", "report"])
def test_every_command_has_help_with_examples(verb: str):
    done = CliRunner().invoke(cli, [verb, "--help"])
    assert done.exit_code == 0
    assert f"gymnast {verb} " in done.stdout
    assert "--runs DIR" in done.stdout
    assert "--json" in done.stdout


PROBE = """
import json, os, sys
from gymnast.cli import cli
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
cli.main(sys.argv[1:], standalone_mode=False)
print(json.dumps([sorted(sys.modules), opened]), file=sys.stderr)
"""


def probe(*words: str) -> tuple[set[str], list[str]]:
    """Returns the modules that a command has imported, and the files that it has opened."""
    command = [sys.executable, "-c", PROBE, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    modules, opened = json.loads(done.stderr)
    return set(modules), opened


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (["runs"], "torch gymnasium numpy pandas pydantic ruamel rich"),
        (["runs", "--json"], "torch gymnasium numpy pandas pydantic ruamel rich"),
        (["show"], "torch gymnasium numpy pandas pydantic rich"),
        (["show", "--json"], "torch gymnasium numpy pandas pydantic rich"),
        (["rows", "@last"], "torch gymnasium numpy pandas pydantic rich"),
        (["compare", "@last", "@last"], "torch gymnasium numpy pandas"),
    ],
)
def test_reading_commands_import_little(run: Run, runs_dir: Path, words: list[str], unwanted: str):
    assert run
    modules, _ = probe(*words, "--runs", str(runs_dir))
    assert not modules & set(unwanted.split())


def test_listing_a_thousand_runs_opens_one_file_of_each(runs_dir: Path):
    first = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})
    first.update(status="finished")
    for i in range(1000):
        path = runs_dir / f"r{i:07d}"
        path.mkdir()
        text = json.dumps(first.info | {"id": path.name, "seed": i})
        (path / "run.json").write_text(text)
    for expected in (1001, 0):  # afterwards the index has them all
        _, opened = probe("runs", "--runs", str(runs_dir))
        of_runs = [name for name in opened if Path(name).parent.parent == runs_dir]
        assert len(of_runs) == expected
