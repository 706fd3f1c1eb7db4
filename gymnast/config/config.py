"""The complete configuration of a run, as one frozen value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from gymnast.clock import Clock
from gymnast.config.applies import Applies
from gymnast.config.cadence import Cadence
from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.facts import Facts
from gymnast.config.families import is_multi_agent
from gymnast.config.numbers import Count, Whole
from gymnast.config.schedule import Schedule
from gymnast.config.section import SECTION_DEFAULT, AlgoSection, Hyperparameters, Section
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.checkpoint import CheckpointConfig
from gymnast.config.sections.collect import CollectConfig, async_conflicts
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.eval import EvalConfig
from gymnast.config.sections.league import LeagueConfig, RoleConfig, RoleName, role_conflicts
from gymnast.config.sections.metric import MetricConfig
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.config.sections.rules import RuleConfig, RuleName, rule_conflicts
from gymnast.config.sections.shaping import TermConfig, TermName, shaping_conflicts, step_info_keys
from gymnast.config.sections.stop import BUDGETS, StopConfig
from gymnast.config.sections.traces import TracesConfig
from gymnast.config.sections.track import TrackConfig
from gymnast.config.sections.transaction import TransactionConfig
from gymnast.config.vec_env_defaults import vector_is_fastest

TO_MULTI_AGENT = Applies("to multi-agent environments", lambda on: is_multi_agent(on.config.env.id))


class Config(Section):
    """The settings of a run. `CONFIGS` has one subclass per algorithm, whose `algo` is its own section."""

    seed: Whole = 0
    """Root of every random stream of the run."""
    threads: Annotated[Count, Field(le=1024)] = 1
    """Number of threads of the engine. Runs are reproducible only with the same number of threads. With
    images, the rows of a minibatch are split among the threads."""
    engine: Literal["auto", "native", "torch"] = "auto"
    """Compute engine: native (C++, for standard networks on the CPU) or torch. auto: native if it supports
    the network, else torch."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Device of the updates; inference during collection stays on the CPU. cuda and mps are untested."""
    env: EnvConfig
    """The environment."""
    algo: AlgoSection
    """The algorithm and its hyperparameters."""
    policy: PolicyConfig = SECTION_DEFAULT
    """The policy network."""
    shaping: dict[TermName, TermConfig] = {}
    """Reward shaping: terms added to the training reward, by name. Evaluation scores do not contain them."""
    collect: CollectConfig = SECTION_DEFAULT
    """Place where rollouts are collected, and the order of collecting and learning."""
    normalize: NormalizeConfig = SECTION_DEFAULT
    """Normalization of observations, rewards and value targets."""
    eval: EvalConfig = SECTION_DEFAULT
    """Evaluation of the policy during and after training."""
    stop: StopConfig = SECTION_DEFAULT
    """Budgets and other stopping criteria."""
    checkpoint: CheckpointConfig = SECTION_DEFAULT
    """How often checkpoints are saved, and how many are kept."""
    traces: TracesConfig = SECTION_DEFAULT
    """Episodes that are stored step by step."""
    track: TrackConfig = SECTION_DEFAULT
    """Experiment trackers: W&B and TensorBoard."""
    transaction: TransactionConfig = SECTION_DEFAULT
    """Rollback of updates that moved the policy too far."""
    rules: dict[RuleName, RuleConfig] = {}
    """Automatic changes of settings when a metric stops improving, by name."""
    roles: Annotated[dict[RoleName, RoleConfig], TO_MULTI_AGENT] = {}
    """Players of the roles of a multi-agent environment. Roles that are not listed are trained."""
    league: Annotated[LeagueConfig, TO_MULTI_AGENT] = SECTION_DEFAULT
    """Opponents of the roles of a multi-agent environment, in training and evaluation."""
    facts: Facts = SECTION_DEFAULT
    """Known facts about the environment: labels, ranges, threshold."""
    metrics: dict[str, MetricConfig] = {}
    """User-defined metrics, read from the environment's `info`."""

    @classmethod
    def model_rebuild(cls, **more: Any) -> bool | None:
        """Skips the base class: validators are only ever needed for the config of one algorithm."""
        return None if cls is Config else super().model_rebuild(**more)

    @model_validator(mode="after")
    def _agree(self) -> Config:
        # One custom error carries all conflicts, so that `explain_errors` can give each its own line.
        if conflicts := self.conflicts():
            raise PydanticCustomError("conflicts", "settings contradict", {"conflicts": conflicts})
        return self

    @model_validator(mode="after")
    def _settle_backend(self) -> Config:
        """Resolves `env.backend: auto` here, because it depends on settings outside of `env`. It evaluates
        schedules, whose budgets `_agree` has checked before."""
        # A stored config contains the resolved backend, so loading it never chooses again.
        if "backend" not in self.env.model_fields_set and vector_is_fastest(self):
            env = self.env.model_copy(update={"backend": "vector"})
            object.__setattr__(self, "env", env)  # frozen for everyone else
        return self

    def info_keys(self) -> dict[str, str]:
        """Returns metric name -> key in the last `info` of an episode: the user-defined metrics, and the
        sampled values of randomized parameters."""
        # The randomization wrapper writes each sampled value into `info` under the metric's own name.
        own = {name: metric.source for name, metric in self.metrics.items()}
        return {**own, **{metric: metric for metric in self.env.randomized_metrics().values()}}

    def initial_hyperparameters(self) -> Hyperparameters:
        """Returns the algorithm's hyperparameters at the first rollout."""
        return self.algo.values_at(Clock(limits=self.stop.limits()))

    def training_limit(self) -> EpisodeLimit:
        return EpisodeLimit.from_settings(self.env.max_episode_steps, self.eval.max_episode_steps)

    def evaluation_limit(self) -> EpisodeLimit:
        return EpisodeLimit.from_settings(self.eval.max_episode_steps, self.env.max_episode_steps)

    def possible_returns(self) -> tuple[float, float] | None:
        """Returns the declared range of the raw return of an evaluation episode; None if it is unknown. It is
        declared for the environment as it is, and other tasks or a longer episode may leave it."""
        unmodified = not self.env.tasks and self.evaluation_limit().steps is None
        return self.facts.returns if unmodified else None

    def conflicts(self) -> list[tuple[str, str]]:
        """Returns settings that contradict each other, as (dotted key, message)."""
        return [
            *((f"algo.{key}", text) for key, text in self.algo.conflicts(self.env.n_envs)),
            *((f"env.{key}", text) for key, text in self.env.conflicts()),
            *((f"facts.{key}", text) for key, text in self.facts.conflicts()),
            *shaping_conflicts(self.shaping, [part.name for part in self.facts.observations]),
            *role_conflicts(self.roles, self.env.id),
            *self._single_agent_settings_of_matches(),
            *rule_conflicts(self.rules, self.algo, self.shaping),
            *self._percentages_without_a_budget(),
            *self._running_reward_scale_in_replay(),
            *self._stale_policy_of_on_policy_algorithm(),
            *self._collecting_on_hosts(),
            *async_conflicts(self),
            *self._memory_of_other_algorithms(),
            *self._duplicate_metrics(),
            *self._step_info_of_matches(),
        ]

    def _running_reward_scale_in_replay(self) -> list[tuple[str, str]]:
        """Returns a conflict if an algorithm with a replay buffer uses running reward normalization."""
        if self.algo.action_selection == "sample" or self.normalize.reward != "running":
            return []
        problem = (
            f"{self.algo.name} replays old rewards, which were scaled by other running statistics"
        )
        return [("normalize.reward", f"{problem} (expected off)")]

    @property
    def overlap(self) -> bool:
        """True if updates run while the next rollout is collected."""
        return self.collect.mode == "overlap"

    def _stale_policy_of_on_policy_algorithm(self) -> list[tuple[str, str]]:
        # Overlapped, a rollout comes from the policy before the last update (decisions/0009-overlap.md).
        if not self.overlap or self.algo.tolerates_stale_policy:
            return []
        problem = f"{self.algo.name} cannot learn from rollouts of an older policy"
        return [("collect.mode", f"{problem} (expected sync)")]

    def _collecting_on_hosts(self) -> list[tuple[str, str]]:
        """Returns conflicts of settings with collecting in several processes."""
        on, problems = f"collect.on={self.collect.on}", list[tuple[str, str]]()
        if self.eval.mode == "ray" and self.collect.on != "ray":
            problems.append(("eval.mode", "there is no Ray cluster (set collect.on=ray)"))
        if self.collect.on == "here":
            return problems
        if is_multi_agent(self.env.id):
            what = "opponents are chosen among past selves, which only the training process has"
            problems.append(("collect.on", f"matches are collected here: {what} (expected here)"))
        elif self.collect.hosts > self.env.n_envs:
            what = f"{self.collect.hosts} hosts cannot share {self.env.n_envs} env copies"
            problems.append(("collect.hosts", f"{what} (expected at most env.n_envs)"))
        if self.env.backend == "envpool":
            what = (
                "EnvPool ignores the seeds of single copies, so that a host could not be replaced"
            )
            problems.append(("env.backend", f"{what} ({on}; expected another backend)"))
        return problems

    def _memory_of_other_algorithms(self) -> list[tuple[str, str]]:
        if self.policy.memory is None or self.algo.supports_memory:
            return []
        problem = f"{self.algo.name} cannot train a policy with memory"
        return [("policy.memory", f"{problem} (expected off, or algo ppo or a2c)")]

    def _single_agent_settings_of_matches(self) -> list[tuple[str, str]]:
        """Returns settings without a meaning in multi-agent environments, which have neither our wrappers nor
        a single return."""
        if not is_multi_agent(self.env.id):
            return []
        defaults = EnvConfig(id=self.env.id)
        # tag counts its own time and cannot be truncated from outside.
        unsupported = [
            *_SINGLE_AGENT_SETTINGS,
            *(["max_episode_steps"] if self.env.id == "tag" else []),
        ]
        env = [
            f"env.{name}"
            for name in unsupported
            if getattr(self.env, name) != getattr(defaults, name)
        ]
        # None stands for "as by default"; every other value is rejected.
        others = {
            "eval.max_episode_steps": None
            if self.eval.max_episode_steps == "auto"
            else self.eval.max_episode_steps or "off",
            "eval.steps": self.eval.steps,
            "eval.starts": None if self.eval.starts == "seeds" else self.eval.starts,
            "eval.start_at": self.eval.start_at,
            "stop.train_return": self.stop.train_return,
        }
        keys = [*env, *(key for key, value in others.items() if value is not None)]
        problem = f"not supported by {self.env.id}, a multi-agent environment (leave it out)"
        return [(key, problem) for key in keys]

    def _duplicate_metrics(self) -> list[tuple[str, str]]:
        randomized = self.env.randomized_metrics().values()
        problem = "is the name of the metric of a parameter in env.randomize (use another name)"
        return [(f"metrics.{name}", problem) for name in randomized if name in self.metrics]

    def _step_info_of_matches(self) -> list[tuple[str, str]]:
        """Returns a conflict if a shaping term reads the info of steps in a multi-agent environment."""
        if not (is_multi_agent(self.env.id) and step_info_keys(self.shaping)):
            return []
        problem = (
            f"{self.env.id} is a multi-agent environment, where terms cannot read the info of steps"
        )
        return [("shaping", problem)]

    def _percentages_without_a_budget(self) -> list[tuple[str, str]]:
        """Returns a conflict for every schedule or cadence in percent whose clock has no budget. If no budget
        is set at all, it is a single conflict that names all of them."""
        limits = self.stop.limits()
        # Without any budget there is one mistake, not one per percentage.
        if not limits and (shares := [key for key, _, _ in self._percentages(limits)]):
            problem = f"{', '.join(shares)} are percentages of a budget, and no budget is set"
            return [("stop.env_steps", f"{problem} (set one, or write counts such as 20k)")]
        budget = {clock: f"stop.{field}" for field, clock in BUDGETS.items()}
        conflicts: list[tuple[str, str]] = []
        for key, value, clock in self._percentages(limits):
            fix = f"set {budget[clock]}, or " if clock in budget else ""
            problem = f"`{value}` is a percentage of a budget on {clock}, which is not set"
            conflicts.append((key, f"{problem} ({fix}write counts such as 20k)"))
        return conflicts

    def _percentages(
        self, limits: Mapping[str, float]
    ) -> Iterator[tuple[str, Cadence | Schedule, str]]:
        """Yields (dotted key, value, clock) for every schedule or cadence that is a percentage of a budget
        which is not among `limits` (clock -> limit)."""
        main = next(iter(limits), "env_steps")
        terms = ((f"shaping.{name}", term) for name, term in self.shaping.items())
        # Defaults such as league.snapshot=5% must not demand a budget from a single-agent run.
        unused = () if is_multi_agent(self.env.id) else ("league",)
        for name, section in (*self, *terms):
            if name in unused:
                continue
            for field, value in section if isinstance(section, Section) else ():
                is_timed = isinstance(value, Cadence | Schedule)
                clock = value.required_budget(main) if is_timed else None
                if clock is not None and clock not in limits:
                    yield f"{name}.{field}", value, clock


_SINGLE_AGENT_SETTINGS = (
    *("tasks", "curriculum", "randomize", "noise", "keep", "one_hot", "hide", "backend"),
    *("workers", "frames_per_step", "view", "image", "atari", "stack"),
    "previous_actions",
)
"""Settings of `env` for single-agent environments only: wrappers, tasks and backends."""
CONFIGS: dict[str, type[Config]] = {}
"""Algorithm name -> config class."""


def register_config(section: type[AlgoSection], name: str, base: type[Config] = Config) -> None:
    """Adds the config class of an algorithm to CONFIGS: `base` with this section as `algo`."""
    CONFIGS[name] = config = config_class(section, base)
    globals()[config.__name__] = config  # pickle finds a class by its name in its module


def config_class(section: type[AlgoSection], base: type[Config]) -> type[Config]:
    """Returns a new config class: `base` with this section as `algo`."""
    title = f"{section.__name__.removesuffix('Config')}RunConfig"
    return create_model(title, __base__=base, __module__=__name__, algo=(section, ...))


for _name, (_section, _) in ALGORITHMS.items():
    register_config(_section, _name)
