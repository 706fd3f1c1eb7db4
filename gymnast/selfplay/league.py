"""The league of a run: against whom its roles train, namely each other, past selves and scripted players.

Every decision follows from counters, seeded random streams and `state()`, so a resumed run continues with
the same opponents.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from gymnast.clock import Clock
from gymnast.collect.matches import MatchEnd
from gymnast.collect.matchmaking import LEARNER, Cast, Player, sampling_player
from gymnast.config.cadence import PeriodicTrigger
from gymnast.config.config import Config
from gymnast.envs.matches.matches import Matches
from gymnast.league.gates import Gate
from gymnast.league.opponents import OpponentSampling
from gymnast.league.pool import PoolState, SnapshotPool
from gymnast.league.results import STEP, Entrant, Results, ResultsDocument, match_score
from gymnast.league.run_ratings import anchored_ratings
from gymnast.league.wins import RecentWins, WinsState
from gymnast.policy.policy import Policy
from gymnast.seeds import stream
from gymnast.selfplay.balance import Balance, BalanceState, Rebalanced
from gymnast.selfplay.players import builtin_player, policy_from_run
from gymnast.selfplay.rows import match_row
from gymnast.selfplay.snapshots import Snapshots

if TYPE_CHECKING:
    from gymnast.selfplay.evaluation import MatchEvaluation

GATE_MATCHES = 50
"""Minimum number of matches before a ladder or an entry gate decides; with a shorter `league.window`, the
whole window."""


class LeagueState(TypedDict):
    """The state of a league that a checkpoint stores, as plain JSON; the first four by role."""

    pools: dict[str, PoolState]
    wins: dict[str, WinsState]
    past: dict[str, WinsState]
    climbed: dict[str, WinsState]
    recent: list[dict[str, Any]]
    """The fields of each MatchEnd."""
    rung: dict[str, int]
    balance: BalanceState
    due: dict[str, float] | None
    results: ResultsDocument | None


class League:
    def __init__(
        self,
        cfg: Config,
        matches: Matches,
        learners: Sequence[str],
        run_dir: Path,
        runs_dir: Path | None = None,
    ) -> None:
        """`learners`: the roles that learn; `run_dir`: the directory of this run; `runs_dir`: the directory
        of other runs, by default its parent directory. Raises an error if a player that the config names
        cannot be loaded."""
        self.cfg, self.matches, self.learners = cfg, matches, tuple(learners)
        self.snapshots = Snapshots(run_dir)
        window = cfg.league.window
        self.pools = {role: SnapshotPool(max(cfg.league.keep, 2), window) for role in learners}
        self.wins = {role: RecentWins(window) for role in learners}
        """Recent results of each learner in matches without past selves."""
        self.past = {role: RecentWins(window) for role in learners}
        """Recent results of each learner against past selves."""
        self.recent_matches: deque[MatchEnd] = deque(maxlen=window)
        """The last matches without past selves."""
        self.rung = dict.fromkeys(matches.roles, 0)
        """Index of the current opponent on the ladder of each role that does not learn."""
        self.climbed = {role: RecentWins(window) for role in matches.roles}
        """Recent results of that opponent, from its own side."""
        self.balance = Balance(cfg.league.balance)
        self.results = self._no_results()
        """Results of all evaluations, from which ratings are computed; None if ratings are not possible."""
        self._min_matches = min(GATE_MATCHES, window)
        self._sampling = OpponentSampling(cfg.league.draw)
        self._players: dict[tuple[str, str], Player] = {}
        """Loaded players by (role, name). A name always refers to the same policy."""
        self._due: PeriodicTrigger | None = None
        self._runs = runs_dir or run_dir.parent
        # Loaded now, so that policies of other runs are copied before those runs can change.
        for role, ladder in self._ladders().items():
            for name in ladder:
                self.player(role, name)

    @property
    def has_pool(self) -> bool:
        """Whether learners play past selves: only if they are opponents, not partners."""
        return len(self.learners) > 1 and bool(self.matches.outcomes)

    # ---- casting -----------------------------------------------------------------------------

    def cast(self, match: int, number: int) -> Cast:
        """Draws who plays a match, role -> name of the player. `match`: its slot in the environment;
        `number`: how many matches that slot has played. With probability `league.live_share` all learners
        play each other; else one of them, drawn at random, plays past selves of the others."""
        ladders = self._ladders()
        cast = dict.fromkeys(self.learners, LEARNER)
        cast |= {role: ladder[self.rung[role]] for role, ladder in ladders.items()}
        # A function of the match alone, so a resumed run casts every match as before.
        draws = stream(self.cfg.seed, "cast", match, number)
        if self.has_pool and draws.random() >= self.cfg.league.live_share:
            learner = self.learners[int(draws.integers(len(self.learners)))]
            for role in self.learners:
                if role != learner and self.pools[role].steps:
                    cast[role] = f"{STEP}{self.pools[role].sample(self._sampling, draws)}"
        return {role: cast[role] for role in self.matches.roles}

    def player(self, role: str, name: str) -> Player:
        """Returns the player of a role with this name, which is loaded only once."""
        if (role, name) not in self._players:
            self._players[role, name] = self._load_player(role, name)
        return self._players[role, name]

    def learns(self, role: str, clock: Clock) -> bool:
        """True if the role is to be updated now: with alternating learning, only in its turn."""
        # The remedy `alone` overrides turns: only the weaker role learns.
        helped = self.balance.weaker if "alone" in self.balance.applied else ""
        if helped:
            return role == helped
        if self.cfg.league.learning == "simultaneous":
            return True
        turn = clock.rollouts // self.cfg.league.turn
        return self.learners[turn % len(self.learners)] == role

    def reward_factor(self, role: str) -> float:
        """Returns the factor for the role's shaping terms, which the remedy `reward` raises."""
        helped = self.balance.is_helping("reward", role)
        return self.cfg.league.balance.reward if helped else 1.0

    def _ladders(self) -> dict[str, tuple[str, ...]]:
        """Returns the opponents of each role that does not learn, in the order in which they are played."""
        others = [role for role in self.matches.roles if role not in self.learners]
        return {role: self.cfg.roles[role].plays for role in others}

    def _load_player(self, role: str, name: str) -> Player:
        """Returns the player of a role with this name: `random`, `scripted:NAME`, `step:N` (a past self) or a
        policy of another run. Policies sample their actions."""
        if (builtin := builtin_player(self.matches, role, name)) is not None:
            return builtin
        if name.startswith(STEP):
            return sampling_player(self.snapshots.read(int(name.removeprefix(STEP)), role))
        return sampling_player(self._from_elsewhere(role, name))

    def _from_elsewhere(self, role: str, ref: str) -> Policy:
        """Returns the policy of another run that `ref`, a rung of the role's ladder, refers to. It is copied
        the first time, so that this run does not depend on that one."""
        copy = Snapshots.guest_name(role, self._ladders()[role].index(ref))
        if not self.snapshots.file(copy).exists():
            self.snapshots.write(copy, {role: policy_from_run(self.matches, role, ref, self._runs)})
        return self.snapshots.read(copy, role)

    # ---- results -----------------------------------------------------------------------------

    def record_matches(self, ends: Sequence[MatchEnd]) -> None:
        """Records the matches that ended during a rollout."""
        for end in ends:
            past = {r: end.cast[r] for r in self.learners if end.cast[r] != LEARNER}
            if past:
                # Matches against past selves count for the pool only. In `wins` they would hide which
                # of the current policies is ahead.
                (learner,) = (r for r in self.learners if r not in past)
                points = match_score(learner, end.winner)
                self.past[learner].add(points)
                for role, name in past.items():
                    self.pools[role].record_score(int(name.removeprefix(STEP)), points)
                continue
            self.recent_matches.append(end)
            for role in self.learners:
                self.wins[role].add(match_score(role, end.winner))
            for role, ladder in self._ladders().items():
                if end.cast[role] == ladder[self.rung[role]]:
                    self.climbed[role].add(match_score(role, end.winner))

    def advance(
        self, clock: Clock, policies: Mapping[str, Policy]
    ) -> list[tuple[str, dict[str, object]]]:
        """Takes snapshots, moves ladders on and applies remedies, after the matches of a rollout were
        recorded. `policies`: learning role -> policy. Returns (kind, detail) of the events to be logged."""
        events: list[tuple[str, dict[str, object]]] = []
        if self.snapshot_due(clock):
            events += self._snapshot(clock.env_steps, policies)
        for role, ladder in self._ladders().items():
            # `climbed` counts wins of the opponent, so the gate is on its side of the threshold.
            gate = Gate(1 - self.cfg.league.gate, self._min_matches)
            if self.rung[role] + 1 < len(ladder) and gate.verdict(self.climbed[role]) == "below":
                why = gate.explain(self.climbed[role])
                self.rung[role] += 1
                self.climbed[role] = RecentWins(self.cfg.league.window)
                events.append(
                    ("next opponent", {"role": role, "plays": ladder[self.rung[role]], "why": why})
                )
        if len(self.learners) > 1 and (moved := self.balance.update(self.wins)):
            events.append(("rebalanced", {**moved, **self._remedy(moved, policies)}))
        return events

    def snapshot_due(self, clock: Clock) -> bool:
        """Returns whether a snapshot is to be taken now. Each due snapshot is reported only once: asking
        again at the same clock returns False."""
        if self._due is None:
            # The first call of a new run: the untrained policy becomes the first past self.
            self._due = PeriodicTrigger(self.cfg.league.snapshot, clock)
            return self.cfg.league.snapshot is not None and not any(
                pool.steps for pool in self.pools.values()
            )
        return self._due.due(clock)

    def _snapshot(
        self, step: int, policies: Mapping[str, Policy]
    ) -> list[tuple[str, dict[str, object]]]:
        """Writes a snapshot of all roles at this env step and adds it to the pools of roles that are strong
        enough. Returns (kind, detail) of the event."""
        entered: list[str] = []
        for role, pool in self.pools.items() if self.has_pool else ():
            entry = self.cfg.league.entry
            # The first snapshot enters every pool without a gate, so that no pool is empty.
            gate = None if entry is None or not pool.steps else Gate(entry, self._min_matches)
            if gate is None or gate.verdict(self.wins[role]) == "above":
                pool.add(step)
                entered.append(role)
        self.snapshots.write(step, policies)
        return [("snapshot", {"step": step, "roles": entered})]

    def _remedy(self, moved: Rebalanced, policies: Mapping[str, Policy]) -> dict[str, object]:
        """Applies or withdraws a remedy that needs an action, `warm_start` or `handicap`, and returns fields
        to add to its event. The other remedies take effect through `learns` and `reward_factor`. `moved`: the
        result of `Balance.update`."""
        weaker, applied = moved["weaker"], moved["what"] == "applied"
        if moved["remedy"] == "warm_start" and applied:
            return self._warm_start(weaker, policies[weaker])
        if moved["remedy"] != "handicap":
            return {}
        handicap = getattr(self.matches, "handicap", None)
        if handicap is None:
            return {"note": f"{self.matches.name} does not support handicaps"}
        (stronger,) = (role for role in self.learners if role != weaker)
        factor = float(self.cfg.league.balance.handicap) if applied else 1.0
        handicap(stronger, factor)
        return {"stronger": stronger, "factor": factor}

    def _warm_start(self, role: str, policy: Policy) -> dict[str, object]:
        """Loads into `policy` the role's past self that does best against the current opponent, if it does
        better than the current policy. Returns fields to add to the event."""
        # `win_records` counts wins of the opponent, so the best past self has the lowest rate.
        losses = {
            s: w.win_rate().mean for s, w in self.pools[role].win_records.items() if w.n_known >= 10
        }
        best = min(losses, key=lambda step: losses[step], default=None)
        if best is None or 1 - losses[best] <= self.wins[role].win_rate().mean:
            return {"note": "no past self does better"}
        policy.load(self.snapshots.read(best, role).arrays())
        return {"from_step": best}

    def add_evaluation(self, evaluation: MatchEvaluation) -> dict[str, float]:
        """Adds the matches of an evaluation to the results. Returns the metrics with the
        ratings of the evaluated version; none if ratings are not possible."""
        if self.results is None:
            return {}
        pair = self.results.row_role, self.results.column_role
        self.results = self.results.merge(evaluation.results(*pair))
        ratings, row = anchored_ratings(self.results), dict[str, float]()
        for role in self.learners:
            rating = ratings.entrants.get(Entrant(role, str(evaluation.version)))
            if rating is not None:
                row[f"eval/{role}:league/rating"] = rating.value
                row[f"eval/{role}:league/rating_low"] = rating.interval.low
                row[f"eval/{role}:league/rating_high"] = rating.interval.high
        return row

    def _no_results(self) -> Results | None:
        """Returns an empty table; None unless there are exactly two roles and matches have a winner."""
        if len(self.matches.roles) != 2 or not self.matches.outcomes:
            return None
        row, column = self.matches.roles
        return Results(row, column)

    # ---- rows --------------------------------------------------------------------------------

    def row(self) -> dict[str, float]:
        """Returns the metrics of the recent matches. Win rates without a known outcome are missing."""
        row: dict[str, float] = {}
        for role in self.learners:
            rate = self.wins[role].win_rate()
            if self.wins[role].n_known:
                row[f"{role}:league/win_rate"] = rate.mean
                row[f"{role}:league/win_low"], row[f"{role}:league/win_high"] = rate.low, rate.high
            if self.past[role].n_known:
                row[f"{role}:league/past_win_rate"] = self.past[role].win_rate().mean
            if self.has_pool:
                row[f"{role}:league/pool"] = len(self.pools[role].steps)
        for role, ladder in self._ladders().items():
            if len(ladder) > 1:
                row[f"{role}:league/rung"] = self.rung[role] + 1
        return row | match_row(self.recent_matches, self.matches.outcomes, self.cfg.info_keys())

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> LeagueState:
        """Returns, as plain JSON, all that a resumed run needs to continue with the same opponents."""
        return {
            "pools": {role: pool.state() for role, pool in self.pools.items()},
            "wins": {role: wins.state() for role, wins in self.wins.items()},
            "past": {role: wins.state() for role, wins in self.past.items()},
            "climbed": {role: wins.state() for role, wins in self.climbed.items()},
            "recent": [vars(end) for end in self.recent_matches],
            "rung": self.rung,
            "balance": self.balance.state(),
            "due": self._due.state() if self._due else None,
            "results": self.results.to_json() if self.results else None,
        }

    def load(self, state: LeagueState, clock: Clock) -> None:
        """Restores a state from `state()`. `clock`: the clock of the resumed run."""
        for role, pool in self.pools.items():
            pool.load(state["pools"][role])
        for records, saved in (
            (self.wins, state["wins"]),
            (self.past, state["past"]),
            (self.climbed, state["climbed"]),
        ):
            for role, wins in records.items():
                wins.load(saved[role])
        self.recent_matches.clear()
        self.recent_matches.extend(MatchEnd(**end) for end in state["recent"])
        self.rung = dict(state["rung"])
        self.balance.load(state["balance"])
        if state["results"] is not None:
            self.results = Results.from_json(state["results"])
        self._due = None
        if state["due"] is not None:
            self._due = PeriodicTrigger(self.cfg.league.snapshot, clock)
            self._due.load(state["due"])
