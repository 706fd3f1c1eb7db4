"""Plateau rules: a metric that no longer improves changes settings, and back if that made it worse.

What a rule does follows from the rows and its own few numbers, which are saved with the training
state. A resumed run therefore does the same again by itself, and nothing is read from its events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gymnast.config.config import Config
from gymnast.config.live import changed
from gymnast.config.saved import values
from gymnast.config.sections.rules import RuleConfig
from gymnast.errors import ConfigError
from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import declared, refuse_unknown, split
from gymnast.text.wording import counted
from gymnast.training.live.control import Settings

Told = dict[str, Any]
"""What a rule does, as its event has it: `rule`, `did`, `why`, and the `changes` to be made."""


@dataclass
class Trial:
    """A change that is on trial."""

    changes: list[dict[str, Any]]
    before: float
    """The best value before it."""
    best: float | None = None
    """The best value since."""
    rows: int = 0


@dataclass
class PlateauRule:
    name: str
    cfg: RuleConfig
    metric: Metric
    best: float | None = None
    """The value that a better one must exceed by the gain."""
    waited: int = 0
    """Rows since the best one, or since something was done."""
    acted: int = 0
    trial: Trial | None = None
    said: str = ""
    """Why it could do nothing, so that this is said once."""

    def watch(self, row: Mapping[str, float], settings: Settings) -> Told | None:
        """What this row makes it do."""
        if self.cfg.watch not in row:
            return None
        value = row[self.cfg.watch]
        if self._is_better(value, self.best, self.cfg.gain):
            self.best, self.waited = value, 0
        elif self.trial is None:
            self.waited += 1
        if self.trial is not None:
            return self._judged(value, self.trial, settings)
        spent = self.cfg.times is not None and self.acted >= self.cfg.times
        if self.best is None or self.waited < self.cfg.wait or spent:
            return None
        by = f" by more than {self.cfg.gain:g}" if self.cfg.gain else ""
        why = f"{self.cfg.watch} was no better than {self.best:g}{by} for {counted(self.waited, 'row')}"
        self.waited = 0
        return self._acts(self.best, why, settings)

    def state(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("best", "waited", "acted", "said")}
        trial = None if self.trial is None else asdict(self.trial)
        return {"watch": self.cfg.watch, **numbers, "trial": trial}

    def load(self, state: dict[str, Any]) -> None:
        """A rule that watches another metric than it did begins anew."""
        if state["watch"] == self.cfg.watch:
            self.best, self.waited = state["best"], state["waited"]
            self.acted, self.said = state["acted"], state["said"]
            trial = state["trial"]
            self.trial = None if trial is None or self.cfg.revert is None else Trial(**trial)

    def _is_better(self, value: float, than: float | None, by: float = 0.0) -> bool:
        """NaN never is."""
        if than is None:
            return not math.isnan(value)
        return (value - than if self.metric.better == "higher" else than - value) > by

    def _acts(self, best: float, why: str, settings: Settings) -> Told | None:
        try:
            changes = settings.check_changes(_assignments(self.cfg, settings.in_use))
        except (ConfigError, ValueError) as problem:
            return self._idles(why, " ".join(str(problem).split()))
        if not changes:
            return self._idles(why, f"{', '.join(self.cfg.change)} can go no further")
        self.acted, self.said = self.acted + 1, ""
        if self.cfg.revert is not None:
            self.trial = Trial(changes, before=best)
        return self._told("changed", why, changes)

    def _idles(self, why: str, because: str) -> Told | None:
        if because == self.said:
            return None
        self.said = because
        return self._told("nothing", f"{why}, but {because}", [])

    def _judged(self, value: float, trial: Trial, settings: Settings) -> Told | None:
        """One more row of a trial; at its end what was changed comes back or stays."""
        trial.rows += 1
        if self._is_better(value, trial.best):
            trial.best = value
        if trial.rows < (self.cfg.revert or 0):
            return None
        self.trial, self.waited = None, 0
        if trial.best is not None and not self._is_better(trial.before, trial.best):
            return None
        came = "nothing" if trial.best is None else f"{trial.best:g}"
        rows = counted(trial.rows, "row")
        why = f"{self.cfg.watch} came to {came} in {rows}, after {trial.before:g} before"
        now = values(settings.in_use)
        back = {c["key"]: c["from"] for c in trial.changes if now.get(c["key"]) == c["to"]}
        if not back:
            return self._told("nothing", f"{why}, but others have changed it since", [])
        try:
            return self._told("reverted", why, settings.check_changes(back))
        except ConfigError as problem:
            return self._told("nothing", f"{why}, but {' '.join(str(problem).split())}", [])

    def _told(self, did: str, why: str, changes: list[dict[str, Any]]) -> Told:
        return {"rule": self.name, "did": did, "why": why, "changes": changes}


def rules_of(cfg: Config[Any]) -> dict[str, PlateauRule]:
    """By name; refused where what they watch cannot tell better from worse."""
    metrics = declared(cfg) if cfg.rules else {}
    found: dict[str, PlateauRule] = {}
    for name, rule in cfg.rules.items():
        at = f"rules.{name}.watch"
        refuse_unknown(rule.watch, metrics, [*cfg.env.tasks, *cfg.roles], at=at)
        metric = metrics[split(rule.watch)[1]]
        if not metric.better:
            what = f"{rule.watch} is neither better when it rises nor when it falls"
            raise ConfigError(what, at=at, fix="watch another one, such as eval:episode/return")
        if not metric.exact:
            what = f"{rule.watch} reads a wall clock, so that no run could be repeated or resumed"
            raise ConfigError(what, at=at, fix="watch another one, such as eval:episode/return")
        found[name] = PlateauRule(name, rule, metric)
    return found


def validate_rules(cfg: Config[Any]) -> None:
    """While there is no run yet: whether each can do at least the first of its changes."""
    for name in rules_of(cfg):
        try:
            changed(cfg, _assignments(cfg.rules[name], cfg))
        except (ConfigError, ValueError) as problem:
            at = f"rules.{name}.change"
            raise ConfigError(" ".join(str(problem).split()), at=at) from None


def _assignments(rule: RuleConfig, cfg: Config[Any]) -> dict[str, Any]:
    """Setting -> what the rule makes of it as it stands."""
    wanted: dict[str, Any] = {}
    for key, change in rule.change.items():
        try:
            wanted[key] = change.of(_setting(cfg, key), rule.within.get(key))
        except ValueError as problem:
            raise ValueError(f"{key} {problem}") from None
    return wanted


def _setting(cfg: Config[Any], key: str) -> Any:
    found: Any = cfg
    for part in key.split("."):
        found = found[part] if isinstance(found, Mapping) else getattr(found, part)
    return found
