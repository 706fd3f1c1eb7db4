"""Checks that the seed and the actions determine a match, and that it can be rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from gymnast.check.checked_env import Timestep, env_traceback, fingerprint
from gymnast.check.finding import Finding
from gymnast.config.facts import Facts
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, ByRole, Matches, MatchStep
from gymnast.errors import GymnastError
from gymnast.film.headless import headless_rendering
from gymnast.seeds import episode_seed

Array = np.ndarray
MakeMatches = Callable[[int], Matches]
"""Creates an environment with this many new matches."""
_MAX_REPEATED = 3
"""Number of matches that are repeated."""


@dataclass
class MatchTranscript:
    """A recorded match: the actions of all agents and a fingerprint of every result."""

    number: int
    seed: int
    actions: list[dict[str, Array]] = field(default_factory=list[dict[str, Array]])
    fingerprints: list[bytes] = field(default_factory=list[bytes])
    """Fingerprints: one more than actions, unless the last action failed."""

    @property
    def last_timestep(self) -> Timestep:
        """The last step that was played, as a place for findings."""
        return Timestep(self.number, self.seed, len(self.actions), None)


def step_fingerprint(
    obs: ByRole, slot: int, in_play: Mapping[str, Array], step: MatchStep | None = None
) -> bytes:
    """Returns a fingerprint of a reset (`step` is None) or step of the match in `slot`. Only agents in play
    count; `in_play`: role -> mask [seats]."""
    parts: list[object] = [obs[role][slot][mask] for role, mask in in_play.items()]
    if step is not None:
        for by_role in (step.reward, step.terminated, step.truncated):
            parts += [by_role[role][slot][mask] for role, mask in in_play.items()]
        parts += [step.over[slot], step.outcome[slot] if step.over[slot] else UNKNOWN_OUTCOME]
    return b"".join(fingerprint(np.asarray(part)) for part in parts)


def check_determinism(
    make: MakeMatches, used_matches: Matches, transcripts: Sequence[MatchTranscript], facts: Facts
) -> Iterator[Finding]:
    """Yields what repeated matches show: in a new environment, next to other matches, with other seeds and
    from a stored state. `used_matches`: the environment that played the transcripts."""
    some = [
        match for match in transcripts if len(match.fingerprints) == len(match.actions) + 1 > 1
    ][:_MAX_REPEATED]
    if not some:
        return
    # 1. A new environment, one match at a time.
    with closing(make(1)) as fresh:
        other = next((match for match in some if _differs(fresh, 0, match)), None)
    if other is not None:
        what = "the same seed and actions give a different match"
        verdict = "note" if facts.deterministic == "no" else "wrong"
        yield Finding("deterministic", verdict, what, other.last_timestep.location)
        return
    yield Finding("deterministic", "ok", "the same seed and actions give the same match")
    # 2. The same actions with another seed.
    first = some[0]
    reseeded = MatchTranscript(
        0, episode_seed(first.seed, "another"), first.actions, first.fingerprints
    )
    with closing(make(1)) as fresh:
        matters = _differs(fresh, 0, reseeded)
    what = (
        "different seeds give different matches" if matters else "every seed gives the same match"
    )
    yield Finding("seed", "ok" if matters else "note", what)
    # 3. The environment that has played all matches so far.
    yield _independent_of_history(make, used_matches, some)


def _independent_of_history(
    make: MakeMatches, used: Matches, some: Sequence[MatchTranscript]
) -> Finding:
    """Repeats matches in another slot, in another order and next to other matches."""
    late = next((m for m in reversed(some) if _differs(used, used.n_matches - 1, m)), None)
    if late is not None:
        what = "matches before a reset, or in parallel, change the match"
        return Finding("past", "wrong", what, late.last_timestep.location)
    if used.restore_mode == "state" and not _restores(make, some[0]):
        what = "a match that was stored and loaded continues differently (state, load)"
        return Finding("past", "wrong", what, some[0].last_timestep.location)
    if used.restore_mode == "none":
        return Finding(
            "past", "note", "running matches cannot be restored: a resumed run starts new ones"
        )
    return Finding("past", "ok", "a match is independent of matches before it and in parallel")


def _differs(matches: Matches, slot: int, match: MatchTranscript) -> bool:
    """Repeats a match in this slot with its seed and actions; True if anything differs from what was
    recorded."""
    in_play = _all_in_play(matches)
    if (
        matches.reset([slot], [match.seed])
        or step_fingerprint(matches.obs, slot, in_play) != match.fingerprints[0]
    ):
        return True
    for action, expected in zip(match.actions, match.fingerprints[1:], strict=True):
        every = {role: np.repeat(a[None], matches.n_matches, 0) for role, a in action.items()}
        step = matches.step(every, [slot])
        if step.faults or step_fingerprint(step.obs, slot, in_play, step) != expected:
            return True
        _leave(in_play, step, slot)
    return False


def _restores(make: MakeMatches, match: MatchTranscript) -> bool:
    """True if a match that is stored halfway and loaded into another environment continues identically."""
    middle = len(match.actions) // 2
    with closing(make(1)) as one, closing(make(1)) as other:
        in_play = _all_in_play(one)
        one.reset([0], [match.seed])
        # The other one is in a different state, so that `load` has to change everything.
        other.reset([0], [episode_seed(match.seed, "another")])
        for number, (action, expected) in enumerate(
            zip(match.actions, match.fingerprints[1:], strict=True)
        ):
            if number == middle:
                other.load({name: array.copy() for name, array in one.state().items()})
            every = {role: a[None] for role, a in action.items()}
            step = one.step(every)
            if number >= middle:
                twin = other.step(every)
                if twin.faults or step_fingerprint(twin.obs, 0, in_play, twin) != expected:
                    return False
            _leave(in_play, step, 0)
    return True


def _all_in_play(matches: Matches) -> dict[str, Array]:
    """Returns the masks of agents in play at the start of a match, [seats] for each role."""
    return {role: np.ones(kind.seats, bool) for role, kind in matches.roles.items()}


def _leave(in_play: Mapping[str, Array], step: MatchStep, slot: int) -> None:
    """Removes agents that are done from the masks of agents in play."""
    for role, mask in in_play.items():
        mask &= ~(step.terminated[role][slot] | step.truncated[role][slot])


def check_rendering(matches: Matches) -> Finding:
    """Renders one frame of match 0 and returns the finding."""
    try:
        with headless_rendering():
            picture = matches.render(0)
    except (ImportError, GymnastError) as problem:
        what = problem.message if isinstance(problem, GymnastError) else str(problem)
        return Finding("rendering", "note", what)
    except Exception as cause:
        what = f"it cannot be rendered: {type(cause).__name__}: {cause}"
        return Finding("rendering", "wrong", what, "", env_traceback(cause))
    shape = getattr(picture, "shape", ())
    if len(shape) != 3 or shape[2] != 3 or picture.dtype != np.uint8:
        return Finding(
            "rendering", "wrong", f"{shape} is not a frame: expected uint8 [height, width, 3]"
        )
    return Finding("rendering", "ok", f"frames of {shape[1]} x {shape[0]}")
