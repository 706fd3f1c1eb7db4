"""The state of a running training: built from a config, saved to and restored from checkpoints."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnast.clock import Clock
from gymnast.collect.collector import Collector
from gymnast.config.cadence import PeriodicTrigger
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.evaluation.scores import Scores, ScoresState
from gymnast.measure.limits import metric_limits
from gymnast.measure.recent import RecentEpisodes
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.score import Score
from gymnast.metrics.specs import run_metrics
from gymnast.policy.policy import Policy
from gymnast.rollout import Episode, Episodes, Rollout
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.role_arrays import LEARNER, POLICY, add_role_prefix, arrays_of_role
from gymnast.runs.trace import Trace
from gymnast.training.evaluation_points import Version
from gymnast.training.learner import Learner
from gymnast.training.lifecycle.stop import StopReason
from gymnast.training.live.curriculum import Curriculum
from gymnast.training.live.rules import PlateauRule, build_rules
from gymnast.training.live.settings import Schedules, Settings
from gymnast.training.transaction import Transaction

if TYPE_CHECKING:
    from gymnast.selfplay.league import League

COLLECTOR = "collector"
PENDING, WAITING = "pending", "waiting"
"""Stems of a checkpoint's array files."""


@dataclass
class Session:
    clock: Clock
    collector: Collector
    learners: dict[str, Learner]
    settings: Settings
    scores: Scores
    eval_timer: PeriodicTrigger
    save_timer: PeriodicTrigger
    transactions: dict[str, Transaction]
    recent_episodes: dict[str, RecentEpisodes]
    """The latest finished episodes of each role."""
    end_reason: StopReason | None = None
    """The score that ended training. It is saved, so that a run killed right then stays ended."""
    traces: list[Trace] = field(default_factory=list[Trace])
    """Training episodes to be stored with the next checkpoint."""
    match_traces: list[MatchTrace] = field(default_factory=list[MatchTrace])
    """Training matches to be stored with the next checkpoint."""
    league: League | None = None
    """Chooses the opponents of each role, in environments with several agents."""
    waiting_rollouts: dict[str, Rollout] = field(default_factory=dict[str, Rollout])
    """Rollouts that are learned from while the next ones are collected (only with `overlap`)."""
    policy_copies: dict[str, Policy] = field(default_factory=dict[str, Policy])
    """Copies of the policies, which act while the originals are updated (only with `overlap`)."""
    curriculum: Curriculum | None = None
    rules: dict[str, PlateauRule] = field(default_factory=dict[str, PlateauRule])
    late_rows: int = 0
    """Number of rows with only a score, written since the last rollout."""
    applied_commands: list[str] = field(default_factory=list[str])
    """Ids of the commanded live changes that were applied since the last rollout."""

    @classmethod
    def build(cls, cfg: Config, collector: Collector, scores: Scores, run_dir: Path) -> Session:
        """Returns a session before its first rollout; `run_dir` is the run's directory."""
        clock = Clock(limits=cfg.stop.limits())
        spaces, settings = collector.spaces, Settings(cfg)
        learners = {
            role: Learner(
                role, *spaces[role], settings.for_role(role), len(collector.columns(role))
            )
            for role in spaces
        }
        # A policy must not change while it collects, so with `overlap` copies act.
        overlapped = learners if cfg.overlap else {}
        session = cls(
            clock=clock,
            collector=collector,
            learners=learners,
            policy_copies={
                role: Policy.from_spec(learner.policy.spec())
                for role, learner in overlapped.items()
            },
            settings=settings,
            league=_league(cfg, collector, run_dir),
            scores=scores,
            eval_timer=PeriodicTrigger(cfg.eval.every, clock),
            save_timer=PeriodicTrigger(cfg.checkpoint.every, clock),
            transactions={r: Transaction(settings.for_role(r).transaction) for r in spaces},
            recent_episodes={role: RecentEpisodes(tuple(cfg.env.tasks)) for role in spaces},
            curriculum=Curriculum.from_config(
                cfg.env, collector.task_sampler, run_metrics(cfg, metric_limits(collector, cfg))
            ),
            rules=build_rules(cfg),
        )
        session.sync_acting_policies()
        return session

    def acting_policies(self) -> dict[str, Policy]:
        """Returns role -> the policy that collects its rollouts."""
        return self.policy_copies or {
            role: learner.policy for role, learner in self.learners.items()
        }

    def sync_acting_policies(self) -> None:
        """Copies the learned parameters into the acting policies (only with `overlap`)."""
        for role, policy in self.policy_copies.items():
            policy.copy_from(self.learners[role].policy)

    def version(self) -> Version:
        """Returns the policies as they are now, for evaluation."""
        policies = {role: learner.policy for role, learner in self.learners.items()}
        return Version(policies, self.clock.env_steps)

    def drop_best_unless(self, stored: Collection[int]) -> Score | None:
        """Drops the best score if its version is not among the `stored` ones, so that it could not be
        confirmed, or does not count for a branch. Returns the dropped score, or None."""
        best = self.scores.best
        if best is None or (best["env_steps"] in stored and self.scores.counts(best["env_steps"])):
            return None
        self.scores.best = None
        return best

    @property
    def cfg(self) -> Config:
        """The settings in use, live changes included."""
        return self.settings.current

    @property
    def schedules(self) -> Schedules:
        return self.settings.schedules

    def adopt_settings(self) -> None:
        """Updates budget and cadences, which were built from the settings, after a live change."""
        clock, cfg, main = self.clock, self.cfg, self.clock.main_clock
        clock.limits = cfg.stop.limits()
        # A trigger that did not change is kept: a new one would forget when it last fired. One in
        # percent of the budget also changes with the main clock.
        if clock.main_clock != main or self.eval_timer.cadence != cfg.eval.every:
            self.eval_timer = PeriodicTrigger(cfg.eval.every, clock)
        if clock.main_clock != main or self.save_timer.cadence != cfg.checkpoint.every:
            self.save_timer = PeriodicTrigger(cfg.checkpoint.every, clock)

    # ---- saved and restored ------------------------------------------------------------------

    def tensors(self) -> dict[str, dict[str, Any]]:
        """Returns file stem -> arrays by name, for a checkpoint."""
        files: dict[str, dict[str, Any]] = {
            POLICY: add_role_prefix({r: x.policy.arrays() for r, x in self.learners.items()}),
            LEARNER: add_role_prefix({r: x.state()[0] for r, x in self.learners.items()}),
            COLLECTOR: self.collector.state(),
        }
        if self.waiting_rollouts:
            files[WAITING] = add_role_prefix(
                {r: x.arrays() for r, x in self.waiting_rollouts.items()}
            )
        if self.scores.pending is not None:
            files[PENDING] = self.scores.pending.arrays
        return files

    def document(self, alerts: Alerts) -> dict[str, Any]:
        """Returns state.json of a checkpoint: all state that is not an array."""
        return {
            "clock": self.clock.counters(),
            "learners": {role: learner.state()[1] for role, learner in self.learners.items()},
            "recent": {
                role: [e._asdict() for e in r.episodes] for role, r in self.recent_episodes.items()
            },
            "recent_kl": {role: list(t.recent_kl) for role, t in self.transactions.items()},
            "scores": self.scores.state(),
            "evaluates": self.eval_timer.state(),
            "saves": self.save_timer.state(),
            "alerts": alerts.state(),
            "curriculum": self.curriculum.state() if self.curriculum else None,
            "rules": {name: rule.state() for name, rule in self.rules.items()},
            "ended": asdict(self.end_reason) if self.end_reason else None,
            "live": self.settings.live,
            "late_rows": self.late_rows,
            "applied_commands": self.applied_commands,
            "league": self.league.state() if self.league else None,
        }

    def restore(
        self,
        checkpoint: Checkpoint,
        alerts: Alerts,
        *,
        optimizer: bool,
        overridden_keys: Collection[str] = (),
        stays_ended: bool = True,
        branch_point: int | None = None,
    ) -> dict[int, str]:
        """Restores a checkpoint, except for live changes of the keys in `overridden_keys`, without
        `optimizer` the state of the algorithms, and without `stays_ended` the score that ended the run;
        returns copy -> reason for every copy whose running episode could not be restored. `branch_point`: env
        steps at which the run branched off; the scores in the parent's checkpoint do not count for it."""
        state = checkpoint.document("state")
        policies, learners = checkpoint.tensors(POLICY), checkpoint.tensors(LEARNER)
        for role, learner in self.learners.items():
            learner.policy.load(arrays_of_role(role, policies))
            plain = state["learners"][role]
            learner.load(arrays_of_role(role, learners), plain, optimizer=optimizer)
            self.recent_episodes[role].add(
                Episodes.from_episodes(Episode(**e) for e in state["recent"][role])
            )
            self.transactions[role].recent_kl.extend(state["recent_kl"][role])
        # Before the triggers and the league below, which read the clocks.
        self.clock.load(state["clock"])
        if self.cfg.overlap and WAITING in checkpoint.stems:
            stored = checkpoint.tensors(WAITING)
            self.waiting_rollouts = {
                r: Rollout.from_arrays(arrays_of_role(r, stored)) for r in self.learners
            }
        self.sync_acting_policies()
        # Settings before cadences: adopt_settings makes new `PeriodicTrigger` objects, whose state follows.
        live = state.get("live", {})
        self.settings.load({key: live[key] for key in live if key not in overridden_keys})
        self.adopt_settings()
        self.late_rows = state.get("late_rows", 0)
        self.applied_commands = state.get("applied_commands", [])
        self.eval_timer.load(state["evaluates"])
        self.save_timer.load(state["saves"])
        scores: ScoresState = state["scores"]
        # The branch's own checkpoints name the branch point as their start.
        branches = branch_point == checkpoint.step != scores.get("start_version")
        ended = state["ended"] if stays_ended and not branches else None
        self.end_reason = StopReason(**ended) if ended else None
        alerts.load(state["alerts"])
        if self.curriculum is not None and state.get("curriculum"):
            self.curriculum.load(state["curriculum"])
        for name in self.rules.keys() & state.get("rules", {}).keys():
            self.rules[name].load(state["rules"][name])
        if branches:
            self.scores.load_branch_point(
                checkpoint.step, scores, lambda: checkpoint.tensors(PENDING)
            )
        else:
            # Branches of older versions do not store where they start.
            scores = {"start_version": branch_point, **scores}
            self.scores.load(scores, lambda: checkpoint.tensors(PENDING))
        if self.league is not None:
            self.league.load(state["league"], self.clock)
        # After the league and the curriculum: copies that restart draw their opponents and tasks.
        restarted = self.collector.load(checkpoint.tensors(COLLECTOR))
        for role, learner in self.learners.items():
            # a restarted episode has no discounted return to carry on
            learner.reward_scale.running_return[self.collector.columns(role, list(restarted))] = 0.0
        return restarted

    def load_weights(self, saved: Checkpoint) -> list[tuple[list[str], list[str]]]:
        """Loads every layer of the checkpoint's policies whose parameters have the same names and shapes
        here. Returns, for each role, the parameters that were loaded and the parameters that start fresh."""
        stored = saved.tensors(POLICY)
        loaded = [
            learner.policy.load_compatible(arrays_of_role(role, stored))
            for role, learner in self.learners.items()
        ]
        self.sync_acting_policies()
        return loaded

    def policy_specs(self) -> dict[str, Any]:
        return {role: learner.policy.spec() for role, learner in self.learners.items()}


def _league(cfg: Config, collector: Collector, run_dir: Path) -> League | None:
    """Returns the league of an environment with several agents, else None."""
    if not is_multi_agent(cfg.env.id):
        return None
    # imported here: training a single agent must not pay for loading the self-play modules
    from gymnast.collect.matches import MatchCollector
    from gymnast.selfplay.league import League

    assert isinstance(collector, MatchCollector)
    league = League(cfg, collector.matches, list(collector.spaces), run_dir)
    collector.matchmaker = league
    return league
