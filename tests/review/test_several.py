"""One document about several runs: newest first, compared, cut to its budget, without anything private."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gymnast
from gymnast import api
from gymnast.cli import cli
from gymnast.errors import RunError, UsageError
from gymnast.records import from_json, to_json
from gymnast.review.part import MIN_BUDGET
from gymnast.review.record import RunsReview
from gymnast.review.several import MAX_RUNS, choose_runs
from gymnast.runs.run import Run
from tests.review.conftest import SHORT


@pytest.fixture(scope="module")
def trained_three(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Returns two seeds of one config and a run with another learning rate, in this order."""
    runs = tmp_path_factory.mktemp("several") / "runs"
    settings: list[dict[str, object]] = [{"seed": 0}, {"seed": 1}, {"seed": 0, "algo.lr": 0.5}]
    return [
        gymnast.train("CartPole-v1", overrides=SHORT | more, quiet=True, runs_dir=runs)
        for more in settings
    ]


@pytest.fixture
def three(trained_three: list[Run], runs_dir: Path) -> list[Run]:
    shutil.copytree(trained_three[0].path.parent, runs_dir)
    return [Run(runs_dir / run.id) for run in trained_three]


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, ["review", *words], standalone_mode=False)


def test_the_last_runs_are_described_newest_first(three: list[Run]):
    made = api.review_runs(last=2)
    assert made.runs == (three[2].id, three[1].id)
    assert three[0].id not in made.text
    assert made.text.index(f"## Run {three[2].id}") < made.text.index(f"## Run {three[1].id}")
    names = [part.name for part in made.parts]
    of_runs = [f"run {run_id}" for run_id in made.runs]
    compared = ["comparison", "differences", "curves"]
    rest = ["charts", "metrics", "events", "config"]
    assert names == ["about", "runs", *compared, *of_runs, *rest]
    assert sum(part.chars + 2 for part in made.parts) - 1 == made.chars == len(made.text)
    assert api.review_runs().runs == tuple(run.id for run in reversed(three))


def test_runs_that_differ_only_in_their_seed_are_compared_as_a_group(three: list[Run]):
    made = api.review_runs()
    seeds = f"{three[1].id}+{three[0].id}"
    sides = api.compare([three[2].id, seeds], "env_steps")
    (pair,) = sides.improvements
    assert pair.problem in made.text
    differences = made.text.split("## Settings that differ\n")[1].split("## ")[0]
    assert f"{seeds}" in differences
    assert "algo.lr" in differences
    assert "seed " not in differences


def test_a_repetition_of_a_seed_is_no_second_sample(three: list[Run], runs_dir: Path):
    shutil.copytree(three[0].path, runs_dir / "repeated")
    Run(runs_dir / "repeated").update(id="repeated")
    sides = choose_runs([three[0].id, three[1].id, "repeated"], None, runs_dir)
    assert sorted(len(side.runs) for side in sides) == [1, 2]
    assert sum(side.is_group for side in sides) == 1


def test_a_named_group_stays_a_group_and_each_run_appears_once(three: list[Run]):
    group = f"{three[0].id}+{three[2].id}"
    made = api.review_runs([group, three[0].id, three[1].id])
    assert sorted(made.runs) == sorted(run.id for run in three)
    assert group in made.text


@pytest.mark.parametrize("budget", [MIN_BUDGET, 9_000, 30_000])
def test_the_document_keeps_its_budget_and_says_what_is_missing(three: list[Run], budget: int):
    made = api.review_runs(budget=budget)
    assert len(made.text) <= budget
    whole = {part.name: part.chars for part in api.review_runs(budget=10**6).parts}
    cut = [part for part in made.parts if part.cut]
    assert cut
    for part in made.parts:
        assert (part.chars == whole[part.name]) == (not part.cut)
        assert not part.cut or f"of the {whole[part.name]:,} characters" in part.cut
    by_name = {part.name: part for part in made.parts}
    assert not by_name["runs"].cut, "the overview is cut last"
    assert by_name["config"].cut, "the whole config is cut first"
    assert f"## Run {three[0].id}" in made.text


def test_as_many_runs_as_allowed_fit_into_the_smallest_budget(three: list[Run], runs_dir: Path):
    for i in range(MAX_RUNS - len(three)):
        copy = Run(runs_dir / f"copy{i:04d}")
        shutil.copytree(three[i % 3].path, copy.path)
        copy.update(id=copy.id)
    made = api.review_runs(last=MAX_RUNS, budget=MIN_BUDGET)
    assert len(made.runs) == MAX_RUNS
    assert len(made.text) <= MIN_BUDGET
    for wrong in (0, MAX_RUNS + 1):
        with pytest.raises(UsageError, match="not possible"):
            api.review_runs(last=wrong)


def test_one_run_is_not_compared(three: list[Run]):
    names = [part.name for part in api.review_runs(last=1).parts]
    assert "comparison" not in names
    assert f"run {three[2].id}" in names


def test_private_texts_of_all_runs_are_replaced(three: list[Run], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_API_TOKEN", "hunter2-hunter2-hunter2")
    notes = ["mail to jane.doe@example.com", "see /home/jane/thesis", "key hunter2-hunter2-hunter2"]
    for run, note in zip(three, notes, strict=True):
        run.update(note=note, host=f"node{run.id}.cluster.example.com")
    text = api.review_runs().text
    for private in ("jane", "hunter2", "cluster.example", str(three[0].path.parent)):
        assert private not in text
    assert "~/thesis" in text


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("metrics.db", "This part cannot be made: this is not a metric store"),
        ("config.yaml", "This run cannot be described: "),
    ],
)
def test_a_damaged_run_says_so_and_the_others_are_complete(
    three: list[Run], file: str, reason: str
):
    (three[1].path / file).write_bytes(b"broken: [")
    made = api.review_runs()
    broken = made.text.split(f"## Run {three[1].id}")[1].split("\n## ")[0]
    assert reason in broken
    healthy = made.text.split(f"## Run {three[0].id}")[1].split("\n## ")[0]
    assert "cannot be" not in healthy


def test_wrong_requests_are_refused(three: list[Run]):
    with pytest.raises(RunError, match="nobody"):
        api.review_runs([three[0].id, "nobody"])
    with pytest.raises(UsageError, match="budget"):
        api.review_runs(budget=10)
    with pytest.raises(UsageError, match="last"):
        api.review_runs([three[0].id], last=2)
    for words in (("--yes",), ("--command", "x"), ("--episode", "0"), ("--show",)):
        refused = call("--last", "2", *words)
        assert isinstance(refused.exception, UsageError)
        assert words[0] in str(refused.exception)


def test_runs_of_other_programs_are_refused_with_the_way_to_read_them(
    three: list[Run], tmp_path: Path
):
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n1,2\n")
    with pytest.raises(UsageError, match="runs of other programs") as refused:
        api.review_runs([three[0].id, str(tmp_path / "progress.csv")])
    assert "gymnast compare" in refused.value.fix


def test_an_empty_directory_has_no_last_runs():
    with pytest.raises(RunError, match="there are no runs"):
        api.review_runs(last=3)


def test_the_command_line_prints_lists_and_writes_the_document(three: list[Run], tmp_path: Path):
    made = api.review_runs(last=3)
    assert call("--last", "3").stdout == made.text
    assert call(*(run.id for run in three)).stdout == made.text
    out = tmp_path / "three.md"
    assert call("--last", "3", "--out", str(out)).stdout.strip() == str(out)
    assert out.read_text() == made.text
    listed = call("--last", "3", "--list").stdout
    assert all(part.name in listed for part in made.parts)
    assert from_json(RunsReview, json.loads(call("--last", "3", "--json").stdout)) == made
    assert json.loads(json.dumps(to_json(made)))["runs"] == list(made.runs)
    wrong = call("--last", "3", "--out", str(tmp_path / "no" / "x.md"))
    assert isinstance(wrong.exception, UsageError)
