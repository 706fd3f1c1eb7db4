"""The whole of a run's settings, as one frozen value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from gymnast.clock import Clock
from gymnast.config.applies import Applies
from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.facts import Facts
from gymnast.config.families import has_roles
from gymnast.config.measured import vector_is_fastest
from gymnast.config.numbers import Count, Switch, Whole
from gymnast.config.section import UNSET, AlgoSection, Section
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.checkpoint import CheckpointConfig
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.eval import EvalConfig
from gymnast.config.sections.league import LeagueConfig, RoleConfig, RoleName, role_conflicts
from gymnast.config.sections.metric import MetricConfig
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.config.sections.rules import RuleConfig, RuleName, rule_conflicts
from gymnast.config.sections.shaping import TermConfig, TermName, shaping_conflicts, step_keys
from gymnast.config.sections.stop import BUDGETS, StopConfig
from gymnast.config.sections.traces import TracesConfig
from gymnast.config.sections.track import TrackConfig
from gymnast.config.sections.transaction import TransactionConfig

Algo = TypeVar("Algo", bound=AlgoSection)


TO_SEVERAL_AGENTS = Applies(
    "to environments of several agents", lambda on: has_roles(on.config.env.id)
)


class Config(Section, Generic[Algo]):
    seed: Whole = 0
    """Root of every random stream of the run."""
    threads: Count = 1
    """Threads the engine may use; part of what makes a run repeatable. With images, each has its share of
    the rows of a minibatch."""
    engine: Literal["auto", "native", "torch"] = "auto"
    """What computes: native (compiled, for standard networks on the CPU), torch, or native where it
    can (auto)."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Where updates compute; acting stays on the CPU. cuda and mps are untested."""
    overlap: Switch = False
    """Collect the next rollout on one core while learning from the last one on another. The policy
    that acts is then one update behind the one that learns."""
    env: EnvConfig
    """Which environment."""
    algo: Algo
    """How it learns."""
    policy: PolicyConfig = UNSET
    """The network."""
    shaping: dict[TermName, TermConfig] = {}
    """Terms added to the reward that is learned from, by name. Scores are without them."""
    normalize: NormalizeConfig = UNSET
    """Scaling of what the learner sees."""
    eval: EvalConfig = UNSET
    """When and how it is scored."""
    stop: StopConfig = UNSET
    """When training ends."""
    checkpoint: CheckpointConfig = UNSET
    """What is saved."""
    traces: TracesConfig = UNSET
    """Which episodes are stored."""
    track: TrackConfig = UNSET
    """Which trackers follow it."""
    transaction: TransactionConfig = UNSET
    """When an update is undone."""
    rules: dict[RuleName, RuleConfig] = {}
    """What changes by itself when a metric no longer improves, by name."""
    roles: Annotated[dict[RoleName, RoleConfig], TO_SEVERAL_AGENTS] = {}
    """In environments of several agents: who plays each role. Roles that are not named are learned."""
    league: Annotated[LeagueConfig, TO_SEVERAL_AGENTS] = UNSET
    """In environments of several agents: against whom the roles learn."""
    facts: Facts = UNSET
    """What the environment declares about itself."""
    metrics: dict[str, MetricConfig] = {}
    """Numbers of the user's own."""

    @classmethod
    def model_rebuild(cls, **more: Any) -> bool | None:
        """Validation is built for the config of an algorithm, never for `Config` at large."""
        return None if cls is Config else super().model_rebuild(**more)

    @model_validator(mode="after")
    def _settle_backend(self) -> Config[Algo]:
        """`env.backend: auto` depends on settings outside of `env`, so it is settled here, once."""
        if "backend" not in self.env.model_fields_set and vector_is_fastest(self):
            env = self.env.model_copy(update={"backend": "vector"})
            object.__setattr__(self, "env", env)  # frozen for everyone else
        return self

    @model_validator(mode="after")
    def _agree(self) -> Config[Algo]:
        if found := self.conflicts():
            raise PydanticCustomError("conflicts", "settings contradict", {"found": found})
        return self

    def numbers(self) -> dict[str, str]:
        """Metrics that are read from an episode's last info -> the key there: the user's own, and what
        was drawn for the episode."""
        own = {name: metric.source for name, metric in self.metrics.items()}
        return {**own, **{metric: metric for metric in self.env.drawn_metrics().values()}}

    def starting_values(self) -> Algo:
        """The algorithm's section with every schedule replaced by its value at the first update."""
        return self.algo.at(Clock(limits=self.stop.limits()))

    def training_limit(self) -> EpisodeLimit:
        return EpisodeLimit.of(self.env.max_episode_steps, self.eval.max_episode_steps)

    def evaluation_limit(self) -> EpisodeLimit:
        return EpisodeLimit.of(self.eval.max_episode_steps, self.env.max_episode_steps)

    def conflicts(self) -> list[tuple[str, str]]:
        """Settings that contradict each other: (dotted key, what is wrong)."""
        return [
            *((f"algo.{key}", text) for key, text in self.algo.conflicts(self.env.n_envs)),
            *((f"env.{key}", text) for key, text in self.env.conflicts()),
            *((f"facts.{key}", text) for key, text in self.facts.conflicts()),
            *shaping_conflicts(self.shaping, [part.name for part in self.facts.observations]),
            *role_conflicts(self.roles, self.env.id),
            *self._settings_that_matches_do_not_know(),
            *rule_conflicts(self.rules, self.algo, self.shaping),
            *self._percentages_without_a_budget(),
            *self._units_that_would_mix(),
            *self._lag_that_nothing_corrects(),
            *self._numbers_told_twice(),
            *self._step_info_of_matches(),
        ]

    def _units_that_would_mix(self) -> list[tuple[str, str]]:
        if self.algo.acts == "sample" or self.normalize.reward != "running":
            return []
        problem = f"{self.algo.name} remembers rewards, whose scale would differ by when they came"
        return [("normalize.reward", f"{problem} (expected off)")]

    def _lag_that_nothing_corrects(self) -> list[tuple[str, str]]:
        if not self.overlap or self.algo.bears_lag:
            return []
        problem = f"{self.algo.name} must learn from the policy that acted, not from one before it"
        return [("overlap", f"{problem} (expected off)")]

    def _settings_that_matches_do_not_know(self) -> list[tuple[str, str]]:
        """Environments of several agents are played as they are, and no single return is theirs."""
        if not has_roles(self.env.id):
            return []
        as_they_are = EnvConfig(id=self.env.id)
        unknown = [*_OF_ONE_AGENT, *(["max_episode_steps"] if self.env.id == "tag" else [])]
        env = [
            f"env.{name}"
            for name in unknown
            if getattr(self.env, name) != getattr(as_they_are, name)
        ]
        others = {
            "eval.max_episode_steps": None
            if self.eval.max_episode_steps == "auto"
            else self.eval.max_episode_steps or "off",
            "eval.steps": self.eval.steps,
            "eval.starts": None if self.eval.starts == "seeds" else self.eval.starts,
            "eval.start_at": self.eval.start_at,
            "stop.train_return": self.stop.train_return,
        }
        found = [*env, *(key for key, value in others.items() if value is not None)]
        problem = f"{self.env.id} does not know it: several agents act there (leave it out)"
        return [(key, problem) for key in found]

    def _numbers_told_twice(self) -> list[tuple[str, str]]:
        drawn = self.env.drawn_metrics().values()
        problem = "tells what env.randomize draws already (expected another name)"
        return [(f"metrics.{name}", problem) for name in drawn if name in self.metrics]

    def _step_info_of_matches(self) -> list[tuple[str, str]]:
        if not (has_roles(self.env.id) and step_keys(self.shaping)):
            return []
        problem = f"{self.env.id} has several agents; the info of steps is read for one agent only"
        return [("shaping", problem)]

    def _percentages_without_a_budget(self) -> list[tuple[str, str]]:
        limits = self.stop.limits()
        if not limits and (shares := [key for key, _, _ in self._percentages(limits)]):
            problem = f"{', '.join(shares)} count in percent of a budget, and none is set"
            return [("stop.env_steps", f"{problem} (set one, or write counts such as 20k)")]
        budget = {clock: f"stop.{field}" for field, clock in BUDGETS.items()}
        found: list[tuple[str, str]] = []
        for key, value, clock in self._percentages(limits):
            fix = f"set {budget[clock]}, or " if clock in budget else ""
            problem = f"`{value}` counts in percent of a budget on {clock}, and there is none"
            found.append((key, f"{problem} ({fix}write counts such as 20k)"))
        return found

    def _percentages(self, limits: Mapping[str, float]) -> Iterator[tuple[str, Any, str]]:
        """Keys whose value counts in percent of a budget that these limits lack: (key, value, clock)."""
        main = next(iter(limits), "env_steps")
        terms = ((f"shaping.{name}", term) for name, term in self.shaping.items())
        unused = () if has_roles(self.env.id) else ("league",)
        for name, section in (*self, *terms):
            if name in unused:
                continue
            for field, value in section if isinstance(section, Section) else ():
                needs = getattr(value, "needs_budget", None)
                clock = needs(main) if needs else None
                if clock is not None and clock not in limits:
                    yield f"{name}.{field}", value, clock


_OF_ONE_AGENT = (
    *("tasks", "curriculum", "randomize", "noise", "keep", "one_hot", "backend", "workers"),
    *("frames_per_step", "view", "image", "atari", "stack"),
    "previous_actions",
)
"""Settings of `env` that lie around an environment of a single agent."""
CONFIGS: dict[str, type[Config[Any]]] = {}
"""Algorithm -> its config."""
for _name, (_section, _) in ALGORITHMS.items():  # at module level, so that configs can be pickled
    CONFIGS[_name] = Config[_section]
