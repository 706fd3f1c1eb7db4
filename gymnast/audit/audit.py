"""Audits the reward of a run: the total of each term, and which of them can be farmed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gymnast.audit import farming
from gymnast.audit.farming import audit_terms, has_exploiters
from gymnast.audit.record import (
    AuditReport,
    CastTotals,
    FarmedTerm,
    FarmingTest,
    ShapingTotal,
    TermFlag,
)
from gymnast.audit.shaping import shaping_totals
from gymnast.audit.totals import term_totals
from gymnast.collect.matchmaking import LEARNER, Player
from gymnast.config.families import is_multi_agent
from gymnast.config.schedule import highest
from gymnast.config.sections.gradient import GradientSection
from gymnast.envs.matches.open import open_matches
from gymnast.evaluation.episodes import EpisodePlan
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs import store
from gymnast.runs.curve import read_rows
from gymnast.runs.run import Run
from gymnast.selfplay.crossplay import Tournament, open_tournament
from gymnast.selfplay.players import SCRIPTED
from gymnast.training.live.settings import Settings

EPISODES = 100
"""Default number of matches per cast for the totals."""
OPPONENT = f"{SCRIPTED}medium"
OWN_POLICY = "its own policy"
FLAGS = ("farmable", "outweighs")


def audit(
    ref: str,
    *,
    episodes: int = EPISODES,
    runs_dir: str | Path | None = None,
    progress: ProgressCallback = no_progress,
) -> AuditReport:
    """Returns the audit of a run. `episodes`: matches per cast; `progress` is called with (parts done, parts
    in total)."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    settings, played = _settings(run), None
    if is_multi_agent(run.info["env"]):
        # Tag steps all matches as one NumPy batch, so playing all of them at once costs next to nothing.
        n_matches = episodes if run.info["env"] == "tag" else None
        with closing(open_tournament(ref, n_matches=n_matches, runs_dir=runs_dir)) as tournament:
            played = _matches(tournament, settings, episodes, progress)
    rows, shaped = read_rows(run), list[ShapingTotal]()
    for role in [""] if played is None else played.learned:
        shaped += shaping_totals(rows, settings.for_role(role).shaping, role)
    farmed = played.farming.terms if played is not None and played.farming is not None else ()
    verdicts = [TermFlag(one.role, one.term, one.verdict) for one in (*farmed, *shaped)]
    return AuditReport(
        run=run.id,
        env=run.info["env"],
        checkpoint=None if played is None else played.checkpoint,
        learned=() if played is None else tuple(played.learned),
        deterministic=None if played is None else played.deterministic,
        casts=() if played is None else tuple(played.casts),
        farming=None if played is None else played.farming,
        shaping=tuple(shaped),
        flagged=tuple(_flagged(verdicts)),
        unknown=tuple(one for one in verdicts if one.verdict == "unknown"),
    )


def _flagged(verdicts: list[TermFlag]) -> list[TermFlag]:
    """Returns the flagged terms; the sum of all terms only if no single term of the role is flagged."""
    flagged = [one for one in verdicts if one.verdict in FLAGS]
    explained = {one.role for one in flagged if one.term != farming.ALL_TERMS}
    return [f for f in flagged if f.term != farming.ALL_TERMS or f.role not in explained]


def _settings(run: Run) -> Settings:
    settings = Settings(run.trusted_config())
    settings.load(run.info.get("live", {}))
    return settings


@dataclass(frozen=True)
class _PlayedMatches:
    """The part of an audit for which matches are played."""

    checkpoint: int
    learned: list[str]
    deterministic: bool
    casts: list[CastTotals]
    farming: FarmingTest | None


def _matches(
    tournament: Tournament, settings: Settings, episodes: int, progress: ProgressCallback
) -> _PlayedMatches:
    """Plays the matches: first the totals of each term for every cast, then the test for farming."""
    policies = tournament.saved.document("policy")
    learned = [role for role in tournament.roles if role in policies]
    casts = _casts(tournament, learned)
    plan = tournament.evaluator.plan("audit", episodes)
    tested = learned if has_exploiters(tournament.matches) else []
    parts, done = len(casts) + len(tested), 0
    progress(done, parts)
    played: list[CastTotals] = []
    for cast in casts:
        played.append(_cast(tournament, cast, plan))
        progress(done := done + 1, parts)
    terms: list[FarmedTerm] = []
    for role in tested:
        algo = settings.for_role(role).algo
        assert isinstance(algo, GradientSection)
        own: dict[str, Player] = {OWN_POLICY: tournament.player(role, LEARNER, plan)}
        verdicts = audit_terms(
            lambda n: open_matches(tournament.cfg, n),
            role,
            # With a schedule, the most patient learner: it values a late win most.
            discount=highest(algo.gamma),
            seed=tournament.cfg.eval.seed,
            own_players=own,
            n_matches=min(episodes, farming.MATCHES),
        )
        terms += [verdict.record() for verdict in verdicts]
        progress(done := done + 1, parts)
    test = FarmingTest(min(episodes, farming.MATCHES), farming.FARMABLE_SHARE, tuple(terms))
    return _PlayedMatches(
        checkpoint=tournament.saved.step,
        learned=learned,
        deterministic=plan.deterministic,
        casts=played,
        farming=test if tested else None,
    )


def _casts(tournament: Tournament, learned: list[str]) -> list[Mapping[str, str]]:
    """Returns the run's own players against each other, then each learned role against `OPPONENT`."""
    plays = {role: cfg.plays[-1] for role, cfg in tournament.cfg.roles.items()}
    casts = [{r: LEARNER if r in learned else plays.get(r, LEARNER) for r in tournament.roles}]
    for role in learned:
        others = [other for other in tournament.roles if other != role]
        if others and all("medium" in tournament.matches.scripted.get(o, {}) for o in others):
            casts.append({r: LEARNER if r == role else OPPONENT for r in tournament.roles})
    # With one learned role against scripted:medium, both casts are the same.
    return [cast for i, cast in enumerate(casts) if cast not in casts[:i]]


def _cast(tournament: Tournament, cast: Mapping[str, str], plan: EpisodePlan) -> CastTotals:
    """Plays the matches of one cast (role -> player) as in `plan`; returns the number of matches,
    how many each role won, and the term totals of the roles that the run's own policy played."""
    played = tournament.play(cast, plan)
    winners = [match.end.winner for match in played]
    return CastTotals(
        cast=dict(cast),
        matches=len(played),
        won={role: winners.count(role) for role in tournament.roles},
        roles={
            role: tuple(term_totals(played, role)) for role, name in cast.items() if name == LEARNER
        },
    )
