"""Plateau rules: if a metric no longer improves, settings are changed, and changed back if the metric
became worse.

What a rule does depends only on the rows and on its own small state, which is saved in checkpoints. A
resumed run therefore repeats its actions by itself, without reading events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from gymnast.config.config import Config
from gymnast.config.live import apply_assignments
from gymnast.config.schedule import Schedule
from gymnast.config.sections.rules import RuleConfig
from gymnast.config.serialize import SettingChange, flat_values
from gymnast.errors import ConfigError
from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import require_known_key, run_metrics, split_key
from gymnast.text.formatting import count_noun
from gymnast.training.live.settings import Settings


class RuleAction(TypedDict):
    """The action of a rule, as recorded in its event."""

    rule: str
    did: str
    why: str
    changes: list[SettingChange]


class TrialState(TypedDict):
    changes: list[SettingChange]
    before: float
    best: float | None
    rows: int


class RuleState(TypedDict):
    """The state of a rule in a checkpoint."""

    watch: str
    best: float | None
    waited: int
    acted: int
    said: str
    """The obstacle that was reported last."""
    trial: TrialState | None


@dataclass
class Trial:
    """A change that will be reverted if the metric gets worse."""

    changes: list[SettingChange]
    before: float
    """The best value before the change."""
    best: float | None = None
    """The best value since the change."""
    rows: int = 0
    """Number of rows since the change."""

    def state(self) -> TrialState:
        return TrialState(changes=self.changes, before=self.before, best=self.best, rows=self.rows)


@dataclass
class PlateauRule:
    name: str
    cfg: RuleConfig
    metric: Metric
    best: float | None = None
    """The best value so far; an improvement must exceed it by `gain`."""
    waited: int = 0
    """Number of rows since the best one, or since the rule last acted."""
    acted: int = 0
    """Number of times that the rule changed settings."""
    trial: Trial | None = None
    reported_obstacle: str = ""
    """The last reported reason why the rule could not act, so that it is reported once."""

    def update(self, row: Mapping[str, float], settings: Settings) -> RuleAction | None:
        """Returns the action that this row of metrics triggers, or None. `settings`: the current ones, which
        the action changes."""
        if self.cfg.watch not in row:
            return None  # scores are in few rows; only rows with the metric count
        value = row[self.cfg.watch]
        if self._is_better(value, self.best, self.cfg.gain):
            self.best, self.waited = value, 0
        elif self.trial is None:
            self.waited += 1  # a trial first runs to its end; the wait starts again after it
        if self.trial is not None:
            return self._continue_trial(value, self.trial, settings)
        spent = self.cfg.times is not None and self.acted >= self.cfg.times
        if self.best is None or self.waited < self.cfg.wait or spent:
            return None
        by = f" by more than {self.cfg.gain:g}" if self.cfg.gain else ""
        why = f"{self.cfg.watch} was no better than {self.best:g}{by} for {count_noun(self.waited, 'row')}"
        self.waited = 0
        return self._act(self.best, why, settings)

    def state(self) -> RuleState:
        """Returns the state for a checkpoint, as plain values."""
        return {
            "watch": self.cfg.watch,
            "best": self.best,
            "waited": self.waited,
            "acted": self.acted,
            "said": self.reported_obstacle,
            "trial": None if self.trial is None else self.trial.state(),
        }

    def load(self, state: RuleState) -> None:
        """Restores a state, unless the rule now watches another metric: then it starts fresh."""
        if state["watch"] == self.cfg.watch:
            self.best, self.waited = state["best"], state["waited"]
            self.acted, self.reported_obstacle = state["acted"], state["said"]
            trial = state["trial"]
            # Without `revert` (removed by `resume --set`) there is nothing left to decide.
            self.trial = None if trial is None or self.cfg.revert is None else Trial(**trial)

    def _is_better(self, value: float, than: float | None, by: float = 0.0) -> bool:
        """True if a value improves on `than` by more than `by`. NaN never does."""
        if than is None:
            return not math.isnan(value)
        return (value - than if self.metric.better == "higher" else than - value) > by

    def _act(self, best: float, why: str, settings: Settings) -> RuleAction | None:
        """Returns the action that changes the rule's settings, and starts a trial if the rule reverts bad
        changes; None if an obstacle was reported before. `best`: the best value so far; `why`: what triggered
        the rule."""
        try:
            changes = settings.check_changes(_assignments(self.cfg, settings.current))
        except (ConfigError, ValueError) as problem:
            return self._report_once(why, " ".join(str(problem).split()))
        if not changes:
            return self._report_once(why, f"{', '.join(self.cfg.change)} is at its limit")
        self.acted, self.reported_obstacle = self.acted + 1, ""
        if self.cfg.revert is not None:
            self.trial = Trial(changes, before=best)
        return self._action("changed", why, changes)

    def _report_once(self, why: str, obstacle: str) -> RuleAction | None:
        """Returns an action without changes that explains why the rule could not act, unless the last
        one said the same."""
        if obstacle == self.reported_obstacle:
            return None
        self.reported_obstacle = obstacle
        return self._action("nothing", f"{why}, but {obstacle}", [])

    def _continue_trial(self, value: float, trial: Trial, settings: Settings) -> RuleAction | None:
        """Adds a row with this value to a trial. Returns None, or at the end of the trial the action that
        reverts the change, unless the change is kept."""
        trial.rows += 1
        if self._is_better(value, trial.best):
            trial.best = value
        if trial.rows < (self.cfg.revert or 0):
            return None
        self.trial, self.waited = None, 0
        if trial.best is not None and not self._is_better(trial.before, trial.best):
            return None  # no worse than before: the change stays
        reached = "nothing" if trial.best is None else f"{trial.best:g}"
        rows = count_noun(trial.rows, "row")
        why = f"{self.cfg.watch} reached {reached} in {rows}, after {trial.before:g} before"
        # A setting that a command or another rule has changed since keeps that value.
        now = flat_values(settings.current)
        back = {c["key"]: c["from"] for c in trial.changes if now.get(c["key"]) == c["to"]}
        if not back:
            return self._action("nothing", f"{why}, but the settings were changed since", [])
        try:
            return self._action("reverted", why, settings.check_changes(back))
        except ConfigError as problem:
            return self._action("nothing", f"{why}, but {' '.join(str(problem).split())}", [])

    def _action(self, did: str, why: str, changes: list[SettingChange]) -> RuleAction:
        return {"rule": self.name, "did": did, "why": why, "changes": changes}


def build_rules(cfg: Config) -> dict[str, PlateauRule]:
    """Returns the rules by name. Raises ConfigError if a watched metric is unknown, has no better
    direction, or depends on the wall clock."""
    metrics = run_metrics(cfg) if cfg.rules else {}
    rules: dict[str, PlateauRule] = {}
    for name, rule in cfg.rules.items():
        at = f"rules.{name}.watch"
        require_known_key(rule.watch, metrics, [*cfg.env.tasks, *cfg.roles], at=at)
        metric = metrics[split_key(rule.watch)[1]]
        if not metric.better:
            what = f"{rule.watch} has no better direction: neither higher nor lower is better"
            raise ConfigError(what, at=at, fix="watch another one, such as eval:episode/return")
        if not metric.exact:
            what = (
                f"{rule.watch} depends on the wall clock, so runs could not be repeated or resumed"
            )
            raise ConfigError(what, at=at, fix="watch another one, such as eval:episode/return")
        rules[name] = PlateauRule(name, rule, metric)
    return rules


def validate_rules(cfg: Config) -> None:
    """Raises ConfigError, before a run is created, for a rule whose very first change would fail."""
    for name in build_rules(cfg):
        try:
            apply_assignments(cfg, _assignments(cfg.rules[name], cfg))
        except (ConfigError, ValueError) as problem:
            at = f"rules.{name}.change"
            raise ConfigError(" ".join(str(problem).split()), at=at) from None


def _assignments(rule: RuleConfig, cfg: Config) -> dict[str, object]:
    """Returns dotted key -> new value, for the rule's changes applied to the current settings."""
    assignments: dict[str, object] = {}
    for key, change in rule.change.items():
        try:
            value = change.apply(_setting(cfg, key), rule.within.get(key))
            assignments[key] = value.to_plain() if isinstance(value, Schedule) else value
        except ValueError as problem:
            raise ValueError(f"{key} {problem}") from None
    return assignments


def _setting(cfg: Config, key: str) -> object:
    """Returns the value of a dotted key. Sections are objects; `shaping` and `roles` are mappings."""
    value: object = cfg
    for part in key.split("."):
        value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    return value
