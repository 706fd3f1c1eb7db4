"""The functions of the jobs of a night, which run in child processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gymnast.errors import GymnastError, NotInstalled
from gymnast.nightly.record import JobResult, NightlyFinding
from gymnast.progress import ProgressCallback
from gymnast.text.formatting import count_noun

TOLERANCE = 0.75
"""A speed ratio is a finding if it is below this fraction of the stored one. Between rounds of the stored
measurements, ratios differ by up to 15 %."""


def check_configs(*, progress: ProgressCallback) -> JobResult:
    """Validates all presets, also the user's own ones; a finding per preset with mistakes."""
    from gymnast.config.check import check
    from gymnast.config.presets import all_presets

    names = list(all_presets())
    findings: list[NightlyFinding] = []
    for number, name in enumerate(names):
        progress(number, len(names), name)
        if problems := check([name])[name]:
            findings.append(
                NightlyFinding(
                    title=f"The preset {name} has {count_noun(len(problems), 'mistake')}",
                    observed="\n".join(str(problem) for problem in problems),
                    command=f"gymnast config check {name}",
                    todo=f"Correct the file of the preset, or add what is missing. `gymnast config form "
                    f"{name}` explains every setting.",
                )
            )
    return JobResult(len(names), tuple(findings))


def check_presets(targets: Sequence[str], *, progress: ProgressCallback) -> JobResult:
    """Tests presets as `gymnast check --all` does; a finding per preset that failed."""
    from gymnast.check.finding import PresetOutcome
    from gymnast.check.presets import check_presets as check

    outcomes: list[PresetOutcome] = []
    progress(0, len(targets), targets[0])
    for outcome in check(targets):
        outcomes.append(outcome)
        following = targets[len(outcomes)] if len(outcomes) < len(targets) else ""
        progress(len(outcomes), len(targets), following)
    return JobResult(
        done=sum(outcome.verdict != "skipped" for outcome in outcomes),
        findings=tuple(_preset_finding(one) for one in outcomes if one.verdict == "failed"),
        skipped=tuple(
            f"{one.target}: {one.reason}" for one in outcomes if one.verdict == "skipped"
        ),
    )


def _preset_finding(outcome: object) -> NightlyFinding:
    from gymnast.check.finding import PresetOutcome

    assert isinstance(outcome, PresetOutcome)
    details = [f"{f.check}: {f.what} {f.where}".rstrip() for f in outcome.findings]
    return NightlyFinding(
        title=f"The preset {outcome.target} fails its check",
        observed="\n".join([outcome.reason, *details]),
        command=f"gymnast check --all {outcome.target}",
        todo="Find out whether the environment, its facts in the preset, or gymnast has changed. If a "
        "package was updated, compare its versions. Correct the cause; do not remove the fact or the check.",
    )


def reproduce_result(preset: str, *, progress: ProgressCallback) -> JobResult:
    """Trains the first seed of a stored result again; a finding if the result does not hold."""
    from gymnast.film import background
    from gymnast.insight.reproduction import reproduce
    from gymnast.insight.results import load_result

    os.environ[background.VARIABLE] = "off"  # films would be written into the folder after its end
    with TemporaryDirectory(prefix="gymnast-nightly-", ignore_cleanup_errors=True) as folder:
        try:
            made = reproduce(
                preset,
                seeds=1,
                jobs=1,
                store_result=False,
                trackers=(),
                report=lambda line: progress(0, 1, line),
                runs_dir=Path(folder),
            )
        except NotInstalled as error:
            return JobResult(0, skipped=(f"{preset}: {error.message}",))
    if missing := [text for text in made.errors.values() if "is not installed" in text]:
        return JobResult(0, skipped=(f"{preset}: {missing[0].splitlines()[0]}",))
    command = f"gymnast reproduce {preset} --seeds 1"
    against = made.comparison
    if against is None:
        failed = NightlyFinding(
            title=f"The training of {preset} fails",
            observed="\n".join(f"seed {seed}: {text}" for seed, text in made.errors.items()),
            command=command,
            todo="Correct what the error names.",
        )
        return JobResult(1, (failed,))
    scores = (
        f"seed {made.seeds[0]}: stored {against.stored_same_seeds:.5g}, now {made.now.mean:.5g}"
    )
    if against.holds:
        same = "identical to the last digit" if against.identical else "not identical"
        return JobResult(1, notes=(f"{preset} holds, {same}: {scores}.",))
    stored = load_result(preset)
    solved = "; it is no longer solved" if against.seeds_no_longer_solved else ""
    finding = NightlyFinding(
        title=f"The stored result of {preset} does not hold",
        observed=f"{scores}, which must not be below {against.floor:.5g}{solved}. The result was stored on "
        f"{stored['date']} at revision {stored['revision'][:12] or 'unknown'}.",
        command=command,
        todo="Find the change that moved the score: repeat it at the stored revision with the stored package "
        "versions (docs/results.md), then search between the two revisions. Repair the cause. Store a new "
        "result only if the change was intended, with all seeds: gymnast reproduce PRESET --store.",
    )
    return JobResult(1, (finding,))


def benchmark_ratios(root: str, options: Sequence[str], *, progress: ProgressCallback) -> JobResult:
    """Measures the speed of some tasks relative to the environment alone and to other libraries, in a
    checkout, and compares the ratios with the stored ones."""
    command = [sys.executable, "-m", "benchmarks.drift", *options]
    progress(0, 1, "running the benchmarks")
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise GymnastError(f"the benchmarks failed: {lines[-1]}", fix=" ".join(command[1:]))
    measured = json.loads(done.stdout.splitlines()[-1])
    findings: list[NightlyFinding] = []
    notes: list[str] = []
    for ratio in measured["ratios"]:
        share = ratio["now"] / ratio["stored"]
        what = f"task {ratio['task']}, speed relative to {ratio['label']}"
        numbers = f"{ratio['now']:.3g} now, {ratio['stored']:.3g} stored ({share:.0%})"
        notes.append(f"{what}: {numbers}.")
        if share < TOLERANCE:
            findings.append(
                NightlyFinding(
                    title=f"Training is slower than it was: {what}",
                    observed=f"{numbers}; the median of {count_noun(ratio['rounds'], 'round')} must "
                    f"reach {TOLERANCE:.0%} of the stored one.",
                    command=f"python -m benchmarks.drift {' '.join(options)}",
                    todo="Repeat it on an idle machine. If it is confirmed, profile the task and search for "
                    "the change that made it slower (docs/benchmarks.md).",
                )
            )
    absent = tuple(f"ratios to {name}: {why}" for name, why in measured["absent"].items())
    return JobResult(len(measured["ratios"]), tuple(findings), tuple(notes), absent)
