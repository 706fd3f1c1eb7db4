"""Does the seed of a match, with what is done in it, decide it? And can it be drawn?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gymnast.check.finding import Finding
from gymnast.check.live import Moment, fingerprint, own_traceback
from gymnast.config.facts import Facts
from gymnast.envs.matches.matches import UNKNOWN, ByRole, Matches, MatchStep
from gymnast.errors import GymnastError
from gymnast.film.stage import without_screen
from gymnast.seeds import episode_seed

Array = np.ndarray
Make = Callable[[int], Matches]
"""So many matches, without a past."""
_AGAIN = 3
"""Matches that are played again."""


@dataclass
class Played:
    """One match: what everybody did, and what came of each step."""

    number: int
    seed: int
    actions: list[dict[str, Array]] = field(default_factory=list[dict[str, Array]])
    lines: list[bytes] = field(default_factory=list[bytes])
    """One more than actions, unless the last of them broke it."""

    @property
    def moment(self) -> Moment:
        """As far as it was played."""
        return Moment(self.number, self.seed, len(self.actions), None)


def line(obs: ByRole, place: int, who: Mapping[str, Array], step: MatchStep | None = None) -> bytes:
    """What the reset or a step came to for those in play: enough to tell matches apart."""
    told: list[Any] = [obs[role][place][mask] for role, mask in who.items()]
    if step is not None:
        for by_role in (step.reward, step.terminated, step.truncated):
            told += [by_role[role][place][mask] for role, mask in who.items()]
        told += [step.over[place], step.outcome[place] if step.over[place] else UNKNOWN]
    return b"".join(fingerprint(np.asarray(part)) for part in told)


def repeats(make: Make, used: Matches, played: Sequence[Played], facts: Facts) -> Iterator[Finding]:
    """The same matches again: in fresh ones, among others, under other seeds, from a stored state."""
    some = [match for match in played if len(match.lines) == len(match.actions) + 1 > 1][:_AGAIN]
    if not some:
        return
    with closing(make(1)) as fresh:
        other = next((match for match in some if _differs(fresh, 0, match)), None)
    if other is not None:
        what = "the same seed and actions give another match"
        verdict = "note" if facts.deterministic == "no" else "wrong"
        yield Finding("deterministic", verdict, what, other.moment.where)
        return
    yield Finding("deterministic", "ok", "the same seed and actions give the same match")
    first = some[0]
    reseeded = Played(0, episode_seed(first.seed, "another"), first.actions, first.lines)
    with closing(make(1)) as fresh:
        matters = _differs(fresh, 0, reseeded)
    told = "other seeds give other matches" if matters else "every seed gives the same match"
    yield Finding("seed", "ok" if matters else "note", told)
    yield _without_past(make, used, some)


def _without_past(make: Make, used: Matches, some: Sequence[Played]) -> Finding:
    """In another place than before, in another order, beside others."""
    late = next((m for m in reversed(some) if _differs(used, used.n_matches - 1, m)), None)
    if late is not None:
        what = "what was played before a reset, or beside it, changes the match"
        return Finding("past", "wrong", what, late.moment.where)
    if used.restore == "state" and not _goes_on(make, some[0]):
        what = "a match that was stored goes on otherwise (state, load)"
        return Finding("past", "wrong", what, some[0].moment.where)
    if used.restore == "none":
        return Finding(
            "past", "note", "running matches cannot be had again: resume begins new ones"
        )
    return Finding("past", "ok", "a reset begins anew, whatever was played before or beside it")


def _differs(matches: Matches, place: int, match: Played) -> bool:
    """Played once more, it goes otherwise."""
    who = _everybody(matches)
    if matches.reset([place], [match.seed]) or line(matches.obs, place, who) != match.lines[0]:
        return True
    for action, told in zip(match.actions, match.lines[1:], strict=True):
        every = {role: np.repeat(a[None], matches.n_matches, 0) for role, a in action.items()}
        step = matches.step(every, [place])
        if step.faults or line(step.obs, place, who, step) != told:
            return True
        _leave(who, step, place)
    return False


def _goes_on(make: Make, match: Played) -> bool:
    """Stored in the middle and loaded elsewhere, the rest of a match is the same."""
    middle = len(match.actions) // 2
    with closing(make(1)) as one, closing(make(1)) as other:
        who = _everybody(one)
        one.reset([0], [match.seed])
        other.reset([0], [episode_seed(match.seed, "another")])
        for number, (action, told) in enumerate(zip(match.actions, match.lines[1:], strict=True)):
            if number == middle:
                other.load({name: array.copy() for name, array in one.state().items()})
            every = {role: a[None] for role, a in action.items()}
            step = one.step(every)
            if number >= middle:
                twin = other.step(every)
                if twin.faults or line(twin.obs, 0, who, twin) != told:
                    return False
            _leave(who, step, 0)
    return True


def _everybody(matches: Matches) -> dict[str, Array]:
    return {role: np.ones(kind.seats, bool) for role, kind in matches.roles.items()}


def _leave(who: Mapping[str, Array], step: MatchStep, place: int) -> None:
    """Whose part has ended is no longer in play."""
    for role, mask in who.items():
        mask &= ~(step.terminated[role][place] | step.truncated[role][place])


def drawn(matches: Matches) -> Finding:
    try:
        with without_screen():
            picture = matches.draw(0)
    except (ImportError, GymnastError) as problem:
        what = problem.message if isinstance(problem, GymnastError) else str(problem)
        return Finding("rendering", "note", what)
    except Exception as cause:
        what = f"it cannot be drawn: {type(cause).__name__}: {cause}"
        return Finding("rendering", "wrong", what, "", own_traceback(cause))
    shape = getattr(picture, "shape", ())
    if len(shape) != 3 or shape[2] != 3 or picture.dtype != np.uint8:
        return Finding(
            "rendering", "wrong", f"{shape} is not a picture of bytes, [height, width, 3]"
        )
    return Finding("rendering", "ok", f"pictures of {shape[1]} x {shape[0]}")
