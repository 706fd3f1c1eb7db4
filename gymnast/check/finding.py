"""Findings of a check: each is ok, wrong, a warning or a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from gymnast.errors import UsageError
from gymnast.text.suggestions import did_you_mean

Verdict = Literal["ok", "wrong", "warning", "note"]

CHECKS = {
    "made": "Nothing can be trained or played until its constructor works.",
    "spaces": "No policy network can be built for it.",
    "reset": "Every episode starts with reset(seed=...). A copy that fails is restarted, and after "
    "env.max_faults failures training stops.",
    "step": "The episode is dropped and its copy restarted: nothing is learned from what led there, and "
    "after env.max_faults failures in a row training stops.",
    "observation": "An episode with a wrong shape or type is dropped. Values outside the bounds are "
    "normalized wrongly wherever the bounds are used (normalize.obs: static, images).",
    "finite": "A single NaN in an update spreads to every weight, so the whole episode is dropped: nothing "
    "is learned from what led there.",
    "deterministic": "Runs are not reproducible, a resumed run starts new episodes, evaluations do not play "
    "the same episodes, and a video may show another episode than the one that was scored.",
    "seed": "Env copies may play identical episodes, runs with different seeds are not independent, and "
    "evaluation has no held-out episodes.",
    "past": "A score depends on the episodes before it, and a resumed run cannot restore its running "
    "episodes.",
    "aliasing": "Code that keeps an observation (frame stacks, replay buffers, notebooks) finds that a later "
    "one has overwritten it.",
    "ends": "After `terminated` the value of the next state is 0; after `truncated` the critic estimates it. "
    "If both are True, every time limit is learned as a terminal state.",
    "time limit": "The critic learns that no reward follows the limit, so values near it are too low and "
    "rewards beyond it are ignored. With `truncated`, the critic's estimate is used instead.",
    "actions": "A policy does choose the bounds: continuous actions are clipped to them.",
    "mask": "The episode is dropped and its copy restarted, as after any failed step.",
    "rendering": "Neither videos nor `gymnast play` can show it.",
    "metrics": "The metric that the preset declares is never recorded.",
    "facts.actions": "Tables, videos and `gymnast play` cannot label the actions.",
    "facts.options": "Tables, videos and `gymnast play` show numbers instead of these labels.",
    "facts.keys": "It cannot be played with the keyboard (`gymnast play --human`).",
    "facts.observations": "Tables label the wrong components, and normalization by declared bounds "
    "(normalize.obs: static) is wrong.",
    "facts.reward": "Alerts on rewards are false, or are missing when something is wrong.",
    "facts.returns": "Alerts on returns are false, and the threshold may be impossible to reach.",
    "facts.fps": "Videos and `gymnast play` may run at the wrong speed.",
    "facts": "Without facts, metrics have no bounds, tables have no labels, and a run never counts as "
    "solved.",
    "speed": "Training takes at least this long.",
}
"""Name of a check -> consequence for training if it fails. Reports have this order."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    """Name of the check, a key of CHECKS."""
    verdict: Verdict
    """The verdict of the check."""
    what: str = ""
    """The finding, in words."""
    where: str = ""
    """Episode, seed and step of the first occurrence."""
    traceback: str = ""
    """Traceback of an exception in the environment's own code."""
    means: str = ""
    """Consequence for training; empty unless the verdict is wrong. Reports fill it in."""


@dataclass(frozen=True)
class CheckReport:
    """The findings about one environment."""

    target: str
    """The environment, as `ENV[:VARIANT]`."""
    steps: int
    """Number of random steps."""
    episodes: int
    """Number of episodes that were started."""
    wrong: int
    """Number of findings that are wrong."""
    warnings: int
    """Number of warnings."""
    findings: tuple[Finding, ...]
    """All findings, in the order of CHECKS."""

    @classmethod
    def of(cls, target: str, steps: int, episodes: int, findings: Iterable[Finding]) -> CheckReport:
        """Returns the report with these findings, sorted, counted, and each with its consequence."""
        names = list(CHECKS)
        complete = tuple(
            replace(finding, means=CHECKS[finding.check] if finding.verdict == "wrong" else "")
            for finding in sorted(findings, key=lambda finding: names.index(finding.check))
        )
        counts = Counter(finding.verdict for finding in complete)
        return cls(target, steps, episodes, counts["wrong"], counts["warning"], complete)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict == "wrong")

    def with_allowed(self, names: Iterable[str]) -> CheckReport:
        """Returns the report with errors and warnings of these checks turned into notes."""
        allowed = set(names)
        noted = (
            replace(f, verdict="note", what=f"allowed: {f.what}")
            if f.verdict in ("wrong", "warning") and f.check in allowed
            else f
            for f in self.findings
        )
        return CheckReport.of(self.target, self.steps, self.episodes, noted)


@dataclass(frozen=True)
class PresetOutcome:
    """The result of testing one preset."""

    target: str
    """The preset, as `ENV:VARIANT`."""
    verdict: Literal["passed", "failed", "skipped"]
    """The verdict; `skipped` if a package is missing."""
    reason: str = ""
    """Reason of a failure, or the missing package."""
    seconds: float = 0.0
    """Duration of the test."""
    findings: tuple[Finding, ...] = ()
    """Findings about its environment or facts that are wrong."""

    def line(self, width: int = 0) -> str:
        """Returns the outcome as one line of text; `width` is the width of the column with the names."""
        word = self.verdict if self.verdict == "passed" else self.verdict.upper()
        return f"{self.target:<{width}}  {word:<7}  {self.seconds:4.1f} s  {self.reason}".rstrip()


@dataclass(frozen=True)
class PresetsReport:
    """The results of testing presets."""

    passed: int
    """Number of presets that passed."""
    failed: int
    """Number of presets that failed."""
    skipped: int
    """Number of presets that were skipped because a package is missing."""
    presets: tuple[PresetOutcome, ...]
    """The outcome of each preset."""

    @classmethod
    def of(cls, outcomes: Iterable[PresetOutcome]) -> PresetsReport:
        """Returns the report with these outcomes, counted."""
        presets = tuple(outcomes)
        counts = Counter(outcome.verdict for outcome in presets)
        return cls(counts["passed"], counts["failed"], counts["skipped"], presets)


def check_names(names: Iterable[str]) -> None:
    """Raises UsageError if one of these is not the name of a check."""
    for name in names:
        if name not in CHECKS:
            problem = f"there is no check {name!r}{did_you_mean(name, CHECKS)}"
            raise UsageError(problem, fix=f"the checks are {', '.join(CHECKS)}")
