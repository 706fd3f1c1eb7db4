"""Settings and hyperparameters of a running training: the config, overridden by live changes, with
schedules evaluated at the current clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.live import apply_assignments, with_live_changes
from gymnast.config.plain_value import PlainValue
from gymnast.config.resolve import apply_overrides
from gymnast.config.section import AlgoSection, Hyperparameters
from gymnast.config.sections.shaping import TermConfig
from gymnast.config.serialize import SettingChange, flat_values, setting_changes
from gymnast.runs.run import Run


class Schedules:
    """Evaluates the schedules of one role's hyperparameters and shaping weights."""

    def __init__(self, algo: AlgoSection, shaping: Mapping[str, TermConfig] = {}) -> None:
        self.algo = algo
        self._weights = {name: term.weight for name, term in shaping.items()}
        """Shaping term -> schedule of its weight."""
        self._scheduled = algo.active_schedules()
        """Hyperparameter -> its schedule."""

    def hyperparameters(self, clock: Clock) -> Hyperparameters:
        """Returns the hyperparameters, with every schedule replaced by its current value."""
        return self.algo.values_at(clock)

    def weights(self, clock: Clock) -> dict[str, float]:
        """Returns shaping term -> its current weight."""
        return {name: weight(clock) for name, weight in self._weights.items()}

    def row(self, hparams: Hyperparameters) -> dict[str, float]:
        """Returns the `hyper/...` metrics: the current value of every scheduled hyperparameter."""
        return {f"hyper/{name}": getattr(hparams, name) for name in self._scheduled}

    def budget_dependent(self) -> list[str]:
        """Returns the names of schedules that change when the budget does."""
        weights = {f"shaping.{name}.weight": weight for name, weight in self._weights.items()}
        schedules = self._scheduled | weights
        return [
            name for name, schedule in schedules.items() if schedule.required_budget("env_steps")
        ]


class Settings:
    """The run's config with the live changes on top. `resume --set` overrides live changes."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.load({})

    def load(self, live: Mapping[str, object]) -> None:
        """Replaces all live changes by these (dotted key -> plain value)."""
        self.current = with_live_changes(self._config, live)
        """The config with all live changes."""
        self.live = dict(live)
        """Dotted key -> plain value of every setting that a command or a rule changed."""
        self.schedules = Schedules(self.current.algo, self.current.shaping)
        # Filled on demand: building a role's config validates it anew, too slow for every rollout.
        self._of_role: dict[str, tuple[Config, Schedules]] = {}

    def for_role(self, role: str) -> Config:
        """Returns the config of one role, with its `roles.ROLE.set` applied."""
        return self._for(role)[0]

    def schedules_for(self, role: str) -> Schedules:
        return self._for(role)[1]

    def hyperparameters(self, clock: Clock, roles: Iterable[str]) -> dict[str, Hyperparameters]:
        """Returns role -> its hyperparameters at this clock: the schedules of the config, where no rule or
        command has replaced them."""
        return {role: self.schedules_for(role).hyperparameters(clock) for role in roles}

    def _for(self, role: str) -> tuple[Config, Schedules]:
        """Returns the config and the schedules of one role, with its `roles.ROLE.set` applied."""
        if role not in self._of_role:
            cfg, own = self.current, self.current.roles.get(role)
            if own is not None and own.set:
                cfg = apply_overrides(cfg, own.set, origin=f"roles.{role}.set")[0]
            self._of_role[role] = cfg, Schedules(cfg.algo, cfg.shaping)
        return self._of_role[role]

    def check_changes(self, assignments: Mapping[str, object]) -> list[SettingChange]:
        """Returns the changes (key, from, to) that these assignments would make. Raises ConfigError
        for a setting that cannot be changed live."""
        after = apply_assignments(self.current, assignments)
        return setting_changes(self.current, after)

    def live_after(self, changes: Collection[SettingChange]) -> dict[str, object]:
        """Returns the live values (dotted key -> value) after these changes."""
        return self.live | {change["key"]: change["to"] for change in changes}

    def change(self, changes: Collection[SettingChange]) -> None:
        self.load(self.live_after(changes))


def alert_settings(cfg: Config, run: Run) -> dict[str, PlainValue]:
    """Returns the values that alerts and their advice depend on: every setting by dotted key, and the
    parent run."""
    return {**flat_values(cfg), "run.parent": run.info["parent"]}
