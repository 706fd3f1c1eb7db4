"""A night: every step has its turn, whatever the others do, and the report and the exit code say so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from gymnast.api.foreground import nightly_here
from gymnast.cli import cli
from gymnast.errors import UsageError
from gymnast.nightly.record import NightlyReport, StepReport, StepState
from gymnast.nightly.report import exit_code, report_markdown, verdict
from gymnast.nightly.step import StepSkipped, rotated
from gymnast.records import from_json
from tests.nightly.conftest import UseSteps


def night(*steps: str, minutes: float = 5, dispatch: str | None = None) -> NightlyReport:
    """Runs a whole night and returns its last report."""
    return [*nightly_here(steps, minutes=minutes, seed=1, dispatch=dispatch)][-1]


def states(report: NightlyReport) -> dict[str, StepState]:
    return {step.name: step.state for step in report.steps}


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, ["nightly", *words], standalone_mode=False)


def test_a_night_without_findings_is_fine(use_steps: UseSteps):
    use_steps(first=["succeed", "succeed"], second=["succeed"])
    report = night()
    assert (report.exit_code, report.verdict) == (0, "Nothing was found.")
    assert states(report) == {"first": "passed", "second": "passed"}
    assert report.steps[0].summary == "6 things checked"
    assert report.steps[0].notes == ("All three are fine.",) * 2
    assert report.finished


def test_a_finding_is_a_task_text_with_the_command_that_shows_it_again(use_steps: UseSteps):
    use_steps(first=[("find", {"title": "Sums are wrong"})], second=["succeed"])
    report = night()
    assert report.exit_code == 1
    (finding,) = report.findings
    assert finding.step == "first"
    text = finding.text
    assert text.startswith("# Sums are wrong\n")
    for part in ("2 + 2 = 5", "```sh\ngymnast config check\n```", "To do: Repair it.", "gymnast 0"):
        assert part in text
    page = report_markdown(report)
    assert "**There is 1 finding.**" in page
    assert "### 1. Sums are wrong" in page
    assert "```sh\ngymnast config check\n```" in page


def test_a_step_that_hangs_is_ended_at_its_deadline_and_the_next_one_has_its_turn(
    use_steps: UseSteps,
):
    use_steps(deadline=1.5, stuck=["hang"], after=["succeed"])
    report = night()
    assert states(report) == {"stuck": "failed", "after": "passed"}
    assert report.exit_code == 2, "nothing was found, but something could not be run"
    (finding,) = report.findings
    assert "does not finish in time" in finding.title
    assert "waiting for nobody" in finding.observed
    assert finding.command == "gymnast stuck hang"
    assert "Not complete: stuck." in report.verdict


@pytest.mark.parametrize(("function", "word"), [("crash", "SIGKILL"), ("fail", "the disk is full")])
def test_a_job_that_fails_does_not_stop_the_others_of_its_step(
    use_steps: UseSteps, function: str, word: str
):
    use_steps(first=[function, "succeed"], second=["succeed"])
    report = night()
    assert states(report) == {"first": "failed", "second": "passed"}
    assert report.steps[0].summary == "3 things checked, 1 job could not be completed"
    assert word in report.findings[0].observed
    assert "jane" not in report.findings[0].text, "home directories are replaced"
    assert report.exit_code == 2


def test_findings_count_more_than_jobs_that_failed(use_steps: UseSteps):
    use_steps(first=["fail", ("find", {"title": "Sums are wrong"})])
    report = night()
    assert states(report) == {"first": "findings"}
    assert report.exit_code == 1
    assert len(report.findings) == 2


@pytest.mark.parametrize("error", [UsageError("no such folder"), KeyError("seeds")])
def test_a_plan_that_fails_is_a_finding(use_steps: UseSteps, error: Exception):
    use_steps(first=[error], second=["succeed"])
    report = night()
    assert states(report) == {"first": "failed", "second": "passed"}
    assert str(error).strip("'") in report.findings[0].observed


def test_a_step_that_is_skipped_is_visible_and_not_green_by_accident(
    use_steps: UseSteps, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("GYMNAST_NO_SKIPS", raising=False)
    use_steps(first=["succeed"], second=[StepSkipped("there is no checkout")])
    report = night()
    assert report.exit_code == 0
    assert report.verdict == "Nothing was found. Not complete: second."
    assert report.steps[1].summary == "not run, because there is no checkout"
    assert "not run, because there is no checkout" in report_markdown(report)
    assert call("--minutes", "5").return_value == 0
    assert call("--minutes", "5", "--no-skips").return_value == 2
    use_steps(first=[StepSkipped("there is no checkout")])
    assert night().exit_code == 2, "nothing was run"


def test_what_a_job_could_not_check_is_in_the_notes(use_steps: UseSteps):
    use_steps(first=["skip", "succeed"], second=["skip"])
    report = night()
    assert states(report) == {"first": "passed", "second": "skipped"}
    assert "1 not checked" in report.steps[0].summary
    assert report.verdict.endswith("Not complete: second. Only partly checked: first.")
    assert "Not checked: Pong: ale-py is not installed." in report.steps[0].notes


def test_ctrl_c_ends_the_step_and_the_report_has_what_there_is(use_steps: UseSteps):
    finding = ("find", {"title": "Sums are wrong"})
    use_steps(first=[finding], second=["interrupt_owner"], third=["succeed"])
    reports = [*nightly_here(minutes=5, seed=1)]
    report = reports[-1]
    assert states(report) == {
        "first": "findings",
        "second": "interrupted",
        "third": "interrupted",
    }
    assert report.exit_code == 1
    assert "Not complete: second, third." in report.verdict
    assert "Sums are wrong" in report_markdown(report)


def test_the_report_is_written_after_every_step(use_steps: UseSteps, tmp_path: Path):
    file = tmp_path / "nightly.md"
    use_steps(first=["succeed"], second=["succeed"])
    partial = [report_markdown(report) for report in nightly_here(minutes=5, seed=1)]
    assert "its turn has not come" in partial[0]
    assert "report so far" in partial[0]
    assert "report so far" not in partial[-1]
    assert len(partial) == 3
    done = call("--report", str(file), "--minutes", "5")
    assert done.return_value == 0
    assert done.stdout.strip() == f"Nothing was found. See {file}"
    assert file.read_text().startswith("# Nightly report of ")
    assert "first: all of it" in done.stderr, "progress"


def test_the_record_is_printed_as_json_and_steps_can_be_chosen(use_steps: UseSteps):
    use_steps(first=[("find", {"title": "Sums are wrong"})], second=["succeed"])
    done = call("second", "--json", "--minutes", "5", "--seed", "7")
    report = from_json(NightlyReport, json.loads(done.stdout))
    assert (states(report), report.seed) == ({"second": "passed"}, 7)
    for words in (["thrid"], ["--minutes", "0"], ["--minutes", "99999"], ["--dispatch", "nobody"]):
        assert isinstance(call(*words).exception, UsageError)


COPY = "import sys, pathlib, time; pathlib.Path({folder!r}, str(time.time_ns())).write_text(sys.stdin.read())"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes a settings file whose command `copy` stores what it reads; returns the folder of the copies."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    commands = {
        "copy": {"command": [sys.executable, "-c", COPY.format(folder=str(folder))]},
        "broken": {"command": [sys.executable, "-c", "import sys; sys.exit('no quota')"]},
    }
    review = {"only-reviews": {"command": [sys.executable, "-c", "print(1)"]}}
    file = tmp_path / "settings.yaml"
    file.write_text(json.dumps({"dispatch": commands, "review": review}))
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    return folder


def test_each_finding_is_passed_to_the_configured_command(use_steps: UseSteps, settings: Path):
    use_steps(first=[("find", {"title": "One"}), ("find", {"title": "Two"})], second=["succeed"])
    report = night(dispatch="copy")
    copies = [file.read_text() for file in sorted(settings.iterdir())]
    assert copies == [finding.text for finding in report.findings]
    assert [(sent.title, sent.ok) for sent in report.dispatched] == [("One", True), ("Two", True)]
    assert "## Dispatched" in report_markdown(report)


def test_a_dispatch_that_fails_is_reported_and_the_next_finding_is_passed(
    use_steps: UseSteps, settings: Path
):
    use_steps(first=[("find", {"title": "One"}), ("find", {"title": "Two"})])
    report = night(dispatch="broken")
    assert [sent.ok for sent in report.dispatched] == [False, False]
    assert "no quota" in report.dispatched[0].answer
    assert report.exit_code == 1
    assert not [*settings.iterdir()]


def test_a_command_is_chosen_by_its_name_in_the_settings_file_before_anything_is_run(
    use_steps: UseSteps, settings: Path
):
    use_steps(first=["hang"])
    for name in (sys.executable, "only-reviews", "cat"):
        with pytest.raises(UsageError, match="no dispatch command is called"):
            night(dispatch=name)
    assert not [*settings.iterdir()]


@pytest.mark.parametrize(
    ("found", "code", "strict"),
    [
        ("passed passed", 0, 0),
        ("passed skipped", 0, 2),
        ("skipped skipped", 2, 2),
        ("passed failed", 2, 2),
        ("passed interrupted", 2, 2),
        ("passed waiting", 2, 2),
    ],
)
def test_the_exit_code_without_findings(found: str, code: int, strict: int):
    steps = [StepReport(f"s{i}", "", state, "") for i, state in enumerate(found.split())]  # pyright: ignore[reportArgumentType]
    assert (exit_code(steps), exit_code(steps, strict=True)) == (code, strict)
    incomplete = [step.name for step in steps if step.state != "passed"]
    assert all(name in verdict(steps) for name in incomplete)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=30, unique=True), st.integers(0, 10**6))
def test_samples_rotate_so_that_each_item_is_first_once(items: list[str], seed: int):
    nights = [rotated(items, seed + night) for night in range(len(items))]
    assert sorted(order[0] for order in nights) == sorted(items)
    assert all(sorted(order) == sorted(items) for order in nights)


@pytest.mark.slow
def test_a_night_needs_neither_torch_nor_gymnasium_in_its_own_process(tmp_path: Path):
    code = (
        "import sys; from gymnast.api.foreground import nightly_here; "
        "report = [*nightly_here(['config'], minutes=1)][-1]; "
        "assert report.steps[0].state == 'passed', report; "
        "assert not {'torch', 'gymnasium'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
