"""What a check of an environment found: as it should be, wrong, or worth knowing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

Verdict = Literal["ok", "wrong", "warning", "note"]

CHECKS = {
    "made": "Nothing can be trained or played before its constructor works.",
    "spaces": "No network can be built for it.",
    "reset": "Every episode begins with reset(seed=...). A copy that cannot begin is tried again, and "
    "after env.max_faults attempts training ends.",
    "step": "The episode is dropped and its copy made anew: what leads there is never learned, and "
    "after env.max_faults in a row training ends.",
    "observation": "A wrong shape or type drops the episode. Values outside the bounds are scaled "
    "wrongly wherever bounds are used (normalize.obs: static, images).",
    "finite": "One NaN in an update reaches every weight, so the whole episode is dropped: what leads "
    "there is never learned.",
    "deterministic": "Runs cannot be repeated, a resumed run begins new episodes, evaluations are not "
    "paired, and a film may show another episode than the one that was scored.",
    "seed": "Copies may play the same episodes side by side, runs of different seeds are no "
    "independent tries, and evaluation has no episodes of its own.",
    "past": "A score depends on what was played before it, and a resumed run cannot replay its "
    "running episodes.",
    "aliasing": "Whoever keeps an observation (frame stacks, replay memories, notebooks) finds a "
    "later one in its place.",
    "ends": "After a true end nothing follows; after a limit the critic's estimate of what would have "
    "followed counts. Told as both, every limit is learned as an end.",
    "time limit": "The critic learns that nothing follows the limit: values near it are too low, and "
    "what pays after it is not worth going for. Told as truncated, the estimate counts.",
    "actions": "A policy does choose the ends of a range: continuous actions are clipped to them.",
    "mask": "The episode is dropped and its copy made anew, as after any broken step.",
    "rendering": "Neither films nor `gymnast play` can show it.",
    "metrics": "The preset's own number is never recorded.",
    "facts.actions": "Tables, films and `gymnast play` cannot name the actions.",
    "facts.keys": "A person cannot play it.",
    "facts.observations": "Tables name the wrong components, and scaling by declared bounds "
    "(normalize.obs: static) goes wrong.",
    "facts.reward": "Alerts on rewards are raised although nothing is wrong, or stay silent although "
    "something is.",
    "facts.returns": "Alerts on returns are raised although nothing is wrong; a threshold may lie "
    "where no return can be.",
    "facts.fps": "Films and `gymnast play` may run at the wrong pace.",
    "facts": "What is not declared bounds no metric, names nothing and counts as solved never.",
    "speed": "Training takes at least this long.",
}
"""Name -> what it means for training where it is wrong. In the order in which they are told."""


@dataclass(frozen=True)
class Finding:
    check: str
    verdict: Verdict
    what: str = ""
    where: str = ""
    """Episode, seed and step."""
    traceback: str = ""
    """Of the environment's own code, where it raised."""

    @property
    def means(self) -> str:
        """For training; empty where nothing is wrong."""
        return CHECKS[self.check] if self.verdict == "wrong" else ""

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "means": self.means}


@dataclass(frozen=True)
class Report:
    target: str
    steps: int
    """Steps that were taken with random actions."""
    episodes: int
    findings: tuple[Finding, ...]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.verdict == "warning"]

    @property
    def wrong(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.verdict == "wrong"]

    def allowing(self, names: Iterable[str]) -> Report:
        """The same, where what these checks call wrong or warn of is only noted."""
        allowed = set(names)
        noted = (
            replace(f, verdict="note", what=f"allowed: {f.what}")
            if f.verdict in ("wrong", "warning") and f.check in allowed
            else f
            for f in self.findings
        )
        return replace(self, findings=tuple(noted))

    def as_json(self) -> dict[str, Any]:
        findings = [finding.as_json() for finding in self.findings]
        counts = {"wrong": len(self.wrong), "warnings": len(self.warnings)}
        return {**vars(self), **counts, "findings": findings}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    names = list(CHECKS)
    return tuple(sorted(findings, key=lambda finding: names.index(finding.check)))
