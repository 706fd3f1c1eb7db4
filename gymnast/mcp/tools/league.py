"""The tool `league`: players, roles and cross-play of a self-play run."""

from __future__ import annotations

from typing import Literal

from gymnast import api
from gymnast.insight.self_play import RoleCurve, SelfPlay
from gymnast.league.matrix import CrossPlayReport
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.shape import call_text, fields, rounded

View = Literal["ratings", "roles", "matrix"]


def league(context: ToolContext, run: str, view: View = "ratings") -> Answer:
    """Self-play runs only. ratings: Elo of every player with its error; roles: win rate, rating and return of
    each role, first and latest, and which role dominates; matrix: win rates of past policies and scripted
    players against each other."""
    if view == "ratings":
        return _ratings(context, run)
    found = context.ask(api.self_play, run)
    return _matrix(found) if view == "matrix" else _roles(found)


def _ratings(context: ToolContext, run: str) -> Answer:
    found = context.ask(api.league, run)
    ranked = sorted(found.ratings.entrants, key=lambda one: -one.rating)
    names = ("role", "name", "rating", "low", "high", "matches")
    advantage = found.ratings.advantage
    best = (
        f"; best: {ranked[0].role} {ranked[0].name} {rounded(ranked[0].rating)}" if ranked else ""
    )
    return Answer(
        f"{found.run}: {len(ranked)} rated players{best}",
        {
            "run": found.run,
            "total": len(ranked),
            "advantage": fields(advantage, ("role", "rating", "low", "high"))
            if advantage
            else None,
            "players": [fields(one, names) for one in ranked],
        },
        listing=Listing("players", total=len(ranked)),
        next=call_text("league", run=found.run, view="roles"),
    )


def _roles(found: SelfPlay) -> Answer:
    """Returns how each role stands, and which one wins more."""
    rates = {role: _ends(found.win_rates, role) for role in found.roles}
    latest = {role: rate["last"] for role, rate in rates.items() if rate}
    leader = max(latest, key=lambda role: latest[role]) if latest else ""
    ratings = {curve.role: curve for curve in found.ratings if curve.rating}
    roles = [
        {
            "role": role,
            "win_rate": rates[role],
            "return": _ends(found.returns, role),
            "rating": {
                "first": ratings[role].rating[0],
                "last": ratings[role].rating[-1],
                "low": ratings[role].low[-1],
                "high": ratings[role].high[-1],
            }
            if role in ratings
            else None,
        }
        for role in found.roles
    ]
    wins = f"; {leader} wins most ({rounded(latest[leader])})" if leader else ""
    return Answer(
        f"{found.run}: roles {', '.join(found.roles)}{wins}",
        {"run": found.run, "total": len(roles), "leader": leader, "roles": roles},
        next=call_text("league", run=found.run, view="matrix"),
    )


def _ends(curves: list[RoleCurve], role: str) -> dict[str, float] | None:
    """Returns the first and the latest value of the first curve of a role; None without one."""
    curve = next((one for one in curves if one.role == role and one.y), None)
    if curve is None:
        return None
    return {"first": curve.y[0], "last": curve.y[-1], "at_step": curve.x[-1]}


def _matrix(found: SelfPlay) -> Answer:
    report = found.matrix
    if report is None:
        return Answer(
            f"{found.run}: the cross-play matrix has not been played",
            {"run": found.run, "total": 0},
            left_out=("the matrix: `gymnast league RUN --matrix` plays it",),
        )
    rows = [
        {"player": name, "win_rates": [cell.rate for cell in line]}
        for name, line in zip(report.rows, report.cells, strict=True)
    ]
    return Answer(
        f"{found.run}: win rate of {report.row_role} (rows) against {report.column_role}",
        {
            "run": found.run,
            "total": len(rows),
            "row_role": report.row_role,
            "column_role": report.column_role,
            "matches_per_pair": _matches(report),
            "columns": report.columns,
            "rows": rows,
        },
        listing=Listing("rows", total=len(rows)),
    )


def _matches(report: CrossPlayReport) -> int:
    return min((cell.matches for line in report.cells for cell in line), default=0)
