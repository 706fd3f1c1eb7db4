"""Audits the reward of a run: the total of each term, and which of them can be farmed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from gymnast.audit import farming
from gymnast.audit.farming import audit_terms, has_exploiters
from gymnast.audit.shaping import shaping_totals
from gymnast.audit.totals import term_totals
from gymnast.collect.matchmaking import LEARNER, Player
from gymnast.config.families import is_multi_agent
from gymnast.config.schedule import highest
from gymnast.config.sections.gradient import GradientSection
from gymnast.envs.matches.open import open_matches
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
    progress: Callable[[int, int], None] = lambda *_: None,
) -> dict[str, Any]:
    """Returns the audit of a run as JSON data. `episodes`: matches per cast; `progress` is called
    with (parts done, parts in total).

    `shaping`, `flagged` and `unknown` (lists of terms) always exist. For environments with several
    roles there are also `checkpoint`, `learned`, `deterministic` and `casts`, and `farming` if the
    environment has players that try to farm its reward."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    settings = _settings(run)
    result: dict[str, Any] = {"run": run.id, "env": run.info["env"]}
    if is_multi_agent(run.info["env"]):
        # Tag steps all matches as one NumPy batch, so playing all of them at once costs next to nothing.
        n_matches = episodes if run.info["env"] == "tag" else None
        with closing(open_tournament(ref, n_matches=n_matches, runs_dir=runs_dir)) as tournament:
            result |= _matches(tournament, settings, episodes, progress)
    shaped = _shaping(run, settings, result.get("learned", [""]))
    verdicts = [
        {key: line[key] for key in ("role", "term", "verdict")}
        for line in (*result.get("farming", {}).get("terms", ()), *shaped)
    ]
    return {
        **result,
        "shaping": shaped,
        "flagged": _flagged(verdicts),
        "unknown": [one for one in verdicts if one["verdict"] == "unknown"],
    }


def _flagged(verdicts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the flagged terms; the sum of all terms only if no single term of the role is flagged."""
    flagged = [one for one in verdicts if one["verdict"] in FLAGS]
    explained = {one["role"] for one in flagged if one["term"] != farming.ALL_TERMS}
    return [f for f in flagged if f["term"] != farming.ALL_TERMS or f["role"] not in explained]


def _settings(run: Run) -> Settings:
    settings = Settings(run.config())
    settings.load(run.info.get("live", {}))
    return settings


def _shaping(run: Run, settings: Settings, roles: list[str]) -> list[dict[str, Any]]:
    """Returns the totals of the shaping terms of these roles, from the metrics of the run, each
    with `share` and `verdict`. `roles` is [""] if there is only one agent."""
    rows, totals = read_rows(run), list[dict[str, Any]]()
    for role in roles:
        terms = settings.for_role(role).shaping
        totals += [
            {**vars(total), "share": total.share, "verdict": total.verdict}
            for total in shaping_totals(rows, terms, role)
        ]
    return totals


def _matches(
    tournament: Tournament, settings: Settings, episodes: int, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Plays the matches: first the totals of each term for every cast, then the test for farming."""
    policies = tournament.saved.document("policy")
    learned = [role for role in tournament.roles if role in policies]
    casts = _casts(tournament, learned)
    plan = tournament.evaluator.plan("audit", episodes)
    tested = learned if has_exploiters(tournament.matches) else []
    parts, done = len(casts) + len(tested), 0
    progress(done, parts)
    played: list[dict[str, Any]] = []
    for cast in casts:
        played.append(_cast(tournament, cast, plan))
        progress(done := done + 1, parts)
    result: dict[str, Any] = {
        "checkpoint": tournament.saved.step,
        "learned": learned,
        "deterministic": plan.deterministic,
        "casts": played,
    }
    if not tested:
        return result
    terms: list[dict[str, Any]] = []
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
        terms += [verdict.to_json() for verdict in verdicts]
        progress(done := done + 1, parts)
    return result | {
        "farming": {
            "matches": min(episodes, farming.MATCHES),
            "threshold": farming.FARMABLE_SHARE,
            "terms": terms,
        }
    }


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


def _cast(tournament: Tournament, cast: Mapping[str, str], plan: Any) -> dict[str, Any]:
    """Plays the matches of one cast (role -> player) as in `plan`; returns the number of matches,
    how many each role won, and the term totals of the roles that the run's own policy played."""
    played = tournament.play(cast, plan)
    winners = [match.end.winner for match in played]
    return {
        "cast": dict(cast),
        "matches": len(played),
        "won": {role: winners.count(role) for role in tournament.roles},
        "roles": {
            role: [vars(total) for total in term_totals(played, role)]
            for role, name in cast.items()
            if name == LEARNER
        },
    }
