"""The steps of a night find what was planted, and say how to see it again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.drift import drift
from gymnast.api.foreground import nightly_here
from gymnast.cli import COMMANDS, cli
from gymnast.errors import GymnastError
from gymnast.import_object import import_object
from gymnast.insight import results
from gymnast.nightly import jobs, steps
from gymnast.nightly.night import choose_steps, run_step
from gymnast.nightly.step import Clock, StepContext, StepSkipped
from gymnast.nightly.steps import STEPS
from gymnast.progress import no_progress

TINY = """\
env: {id: CartPole-v1, n_envs: 4}
facts: {threshold: 475}
policy: {hidden: [16]}
eval: {mode: inline, episodes: 2, confirm_episodes: 2, n_envs: 2, every: 128 env_steps}
stop: {env_steps: 256}
variants:
  ppo:
    algo: {n_steps: 32, epochs: 2, batch_size: 50%}
"""


@pytest.fixture
def presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "presets"
    folder.mkdir()
    monkeypatch.setenv("GYMNAST_PRESETS", str(folder))
    return folder


def command_line(command: str) -> tuple[int, str]:
    """Runs a `gymnast ...` command; returns its exit code and its output."""
    done = CliRunner().invoke(cli, shlex.split(command)[1:], standalone_mode=False)
    return done.return_value if isinstance(done.return_value, int) else done.exit_code, done.output


def context(seconds: float, seed: int = 0) -> StepContext:
    return StepContext(seed, Clock(seconds))


def test_a_broken_preset_is_found_with_the_command_that_shows_it(presets: Path):
    (presets / "Broken-v0.yaml").write_text("algo: {lerning_rate: 0.1}\n")
    report = [*nightly_here(["config"], minutes=2, seed=0)][-1]
    assert report.exit_code == 1
    (finding,) = report.findings
    assert "Broken-v0" in finding.title
    assert "lerning_rate" in finding.observed
    assert finding.command == "gymnast config check Broken-v0"
    code, output = command_line(finding.command)
    assert code == 1
    assert "lerning_rate" in output


@pytest.mark.slow
def test_a_preset_whose_facts_are_wrong_is_found(presets: Path, monkeypatch: pytest.MonkeyPatch):
    (presets / "Liar-v0.yaml").write_text(TINY.replace("475}", "475, reward: [5, 6]}"))
    (presets / "Fine-v0.yaml").write_text(TINY)
    own = ["Fine-v0:ppo", "Liar-v0:ppo"]
    assert set(own) <= set(steps._targets())
    monkeypatch.setattr(steps, "_targets", lambda: own)
    report = [*nightly_here(["check"], minutes=3, seed=0)][-1]
    (finding,) = report.findings
    assert "Liar-v0" in finding.title
    assert "reward" in finding.observed
    assert finding.command == "gymnast check --all Liar-v0:ppo"
    assert report.steps[0].summary == "2 presets checked, 1 finding"
    assert command_line(finding.command)[0] == 1


@pytest.mark.slow
def test_a_result_that_does_not_reproduce_is_a_finding_and_one_that_does_is_not(
    presets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from gymnast.insight.reproduction import reproduce

    (presets / "Tiny-v0.yaml").write_text(TINY)
    preset = next(t for t in steps._targets() if t.startswith("Tiny-v0"))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    stored = (
        json.loads((steps.results.FOLDER.parent / "x").read_text()) if False else _result(preset)
    )
    (tmp_path / results.file_name(preset)).write_text(json.dumps(stored))
    (finding,) = jobs.reproduce_result(preset, progress=no_progress).findings
    assert finding.title == f"The stored result of {preset} does not hold"
    assert "stored 400, now" in finding.observed
    assert finding.command == f"gymnast reproduce {preset} --seeds 1"
    # the result of this code, on the other hand, holds
    runs = tmp_path / "again"
    made = reproduce(
        preset, seeds=1, jobs=1, store_result=False, trackers=(), report=None, runs_dir=runs
    )
    (run,) = [json.loads(f.read_text()) for f in runs.glob("*/run.json")]
    assert made.now.mean == run["score"]["mean"]
    (tmp_path / results.file_name(preset)).write_text(
        json.dumps(_result(preset, run["score"], run["score"]["low"]))
    )
    again = jobs.reproduce_result(preset, progress=no_progress)
    assert again.findings == ()
    assert "holds, identical to the last digit" in again.notes[0]


def _result(preset: str, score: dict[str, object] | None = None, low: float = 390.0) -> object:
    """Returns a stored result of one seed, by default one that is too good."""
    score = score or {"mean": 400.0, "low": 390.0, "high": 410.0, "iqm": 400.0, "episodes": 2}
    seed = {"seed": 0, "solved": False, "score": score, "env_steps": 256, "seconds": 1.0}
    more = {"mean": score["mean"], "iqm": score["iqm"], "low": None, "high": None, "solved": 0}
    about = {"version": 1, "preset": preset, "command": "", "date": "2026-01-01"}
    cpu = {"model": "", "cores": 1, "instructions": []}
    where = {"revision": "0" * 40, "versions": {}, "cpu": cpu, "threshold": 475}
    return about | where | more | {"seeds": [seed | {"curves": {}}], "low": low}


def test_jobs_of_the_registry_name_functions_and_commands_that_exist():
    for step in STEPS.values():
        try:
            job = next(iter(step.plan(context(3600))))
        except StepSkipped:
            continue
        assert callable(import_object(job.function))
        assert job.deadline > 0
        program, verb = job.command.split()[:2]
        assert program == "python" or (program == "gymnast" and verb in COMMANDS)
    assert [step.name for step in choose_steps((), STEPS)] == list(STEPS)


def test_stored_results_are_chosen_by_the_night_and_by_the_time_that_is_left():
    presets = sorted(result["preset"] for result in results.all_results())
    for seed in (0, 5, 7 + len(presets)):
        expected = presets[seed % len(presets)]
        job = next(iter(STEPS["reproduce"].plan(context(10**6, seed))))
        assert job.arguments == {"preset": expected}
        assert job.command == f"gymnast reproduce {expected} --seeds 1"
    hurried = context(60.0)
    chosen = [job.arguments["preset"] for job in STEPS["reproduce"].plan(hurried)]
    seconds = {r["preset"]: r["seeds"][0]["seconds"] for r in results.all_results()}
    assert chosen == [p for p in presets if steps.OVERHEAD_SECONDS + 2 * seconds[p] <= 60.0]
    (note,) = hurried.left_out
    assert f"{len(presets) - len(chosen)} of {len(presets)} stored results" in note
    with pytest.raises(StepSkipped, match="no stored result fits"):
        list(STEPS["reproduce"].plan(context(1.0)))


def test_presets_are_checked_in_chunks_until_the_time_is_used_up():
    every = [job.arguments["targets"] for job in STEPS["check"].plan(context(10**6, 3))]
    flat = [target for chunk in every for target in chunk]  # type: ignore[attr-defined]
    assert sorted(flat) == sorted(steps._targets())
    assert flat[0] == steps._targets()[3]
    assert set(flat) >= {"CartPole-v1:ppo", "LunarLander-v3:continuous"}
    assert not [target for target in flat if target.startswith("Pendulum") and "dqn" in target]
    hurried = context(1.0)
    (first,) = STEPS["check"].plan(hurried)
    assert first.arguments["targets"] == steps._targets()[: steps.CHUNK]
    assert "were not checked, because the time was used up" in hurried.left_out[0]


def test_benchmarks_are_skipped_outside_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = run_step(STEPS["benchmarks"], context(3600), lambda *_: None)
    assert done.state == "skipped"
    assert done.summary == (
        "not run, because the working directory is not the checkout from which gymnast runs"
    )
    monkeypatch.chdir(Path(__file__).parents[2])
    hurried = run_step(STEPS["benchmarks"], context(10), lambda *_: None)
    assert hurried.state == "skipped"
    assert "it needs 2 min" in hurried.summary


def samples(ours: list[float], alone: list[float]) -> dict[str, object]:
    """Returns an entry of benchmarks/results/comparison.json with these speeds."""

    def of(speeds: list[float]) -> list[dict[str, float]]:
        return [{"env_steps": 1000 * speed, "cpu": 1000.0} for speed in speeds]

    return {"samples": {"ours": of(ours), "alone": of(alone)}, "absent": {"sb3": "not installed"}}


def test_a_ratio_that_fell_is_a_finding_and_a_missing_library_is_named(tmp_path: Path):
    now, stored = samples([10, 12, 11], [100, 100, 100]), samples([20, 20, 20], [100, 100, 100])
    measured = drift({"a": now, "b": stored}, {"a": stored, "b": stored}, ["sb3"])
    assert [(r["task"], r["now"], r["stored"]) for r in measured["ratios"]] == [
        ("a", pytest.approx(0.11), pytest.approx(0.2)),
        ("b", pytest.approx(0.2), pytest.approx(0.2)),
    ]
    assert measured["absent"] == {"SB3": "not installed"}
    write_benchmarks(tmp_path, f"print({json.dumps(measured)!r})")
    result = jobs.benchmark_ratios(str(tmp_path), ["--tasks", "a"], progress=no_progress)
    (finding,) = result.findings
    assert "task a" in finding.title
    assert "0.11 now, 0.2 stored (55%)" in finding.observed
    assert result.skipped == ("ratios to SB3: not installed",)
    assert result.done == 2


def test_benchmarks_that_fail_say_so(tmp_path: Path):
    write_benchmarks(tmp_path, "raise SystemExit('no such core')")
    with pytest.raises(GymnastError, match="the benchmarks failed: no such core"):
        jobs.benchmark_ratios(str(tmp_path), [], progress=no_progress)


def write_benchmarks(root: Path, code: str) -> None:
    """Writes a checkout whose measurement is this code."""
    (root / "benchmarks").mkdir()
    (root / "benchmarks" / "__init__.py").touch()
    (root / "benchmarks" / "drift.py").write_text(code)
