"""Runs with stored matches of the game of foxes and hens, made without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gymnast.collect.matchmaking import LEARNER, Player
from gymnast.config.resolve import resolve, save
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.matches import OpenMatch
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import MatchTrace, write_matches
from gymnast.runs.run import Run
from gymnast.selfplay.play import play_matches
from gymnast.selfplay.snapshots import Snapshots
from tests.match_games import ROLES, Coop

VERSION = 2048
SEEDS = (5, 11, 12, 30, 101)


def coop_instead_of_tag(patch: pytest.MonkeyPatch) -> None:
    """Lets configs of tag open the game of foxes and hens."""
    patch.setattr("gymnast.film.matches.replay.open_matches", lambda _, n: Coop(n))


def play(
    players: Mapping[str, Player], cast: Mapping[str, str] | None = None
) -> tuple[list[MatchTrace], Coop]:
    """Returns a match per seed, and the game, which has recorded what every agent observed and did."""
    game = Coop(2)
    names = cast or dict.fromkeys(ROLES, LEARNER)
    played = play_matches(game, players, names, SEEDS, version=VERSION)
    return [match.trace for match in played], game


def store_run(
    at: Path,
    matches: Sequence[MatchTrace],
    policies: Mapping[str, Policy],
    *,
    kind: str = "eval",
    settings: Mapping[str, object] | None = None,
) -> Run:
    """Returns a run with these matches, whose policies are stored as a snapshot."""
    own = {"eval.deterministic": True, "facts.actions": [], **(settings or {})}
    config = resolve("tag", own).config
    run = Run.create(at, config_text=save(config), preset="tag", seed=0, provenance={}, env="tag")
    run.update(status="finished", checkpoints={"best": VERSION, "latest": VERSION})
    write_matches(run.matches / f"{kind}-{VERSION:012d}.safetensors", matches, {})
    Snapshots(run.path).write(VERSION, policies)
    return run


def open_match(run: Run, number: int = 0, kind: str = "eval") -> OpenMatch:
    return OpenMatch(EpisodeAddress(str(run.path), kind, VERSION, number))  # type: ignore[arg-type]
