"""The search for blunders: which steps, actions and continuations of an episode are tried.

The search has a budget of env steps. If something is random, actions that the policy would not have chosen
are first compared with its own, by several continuations. Then all actions are tried at as many steps as
possible: suspicious ones, such as drops of the value, in turns with steps that are spread over the episode.
The worst steps are tested again, with other random numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gymnast.inspector.alternatives import alternatives
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.lines import Branch, LinePlayer
from gymnast.policy.policy import Policy
from gymnast.progress import ProgressCallback

Array = np.ndarray
_SHARES = {True: (0.2, 0.45, 0.5, 0.65, 0.8, 1.0), False: (0.0, 0.85, 1.0)}
"""Shares of the budget after which each pass ends, if something is random and if nothing is."""
_FIRST_CONTINUATIONS = 64
"""Maximum number of continuations after each action in the first passes."""
_MIN_CONTINUATIONS, _MAX_CONTINUATIONS = 6, 512
"""Bounds of their number in the last passes."""


@dataclass(eq=False)
class Trial:
    """The actions that are compared at one step."""

    step: int
    actions: list[Array]
    """The played action and its alternatives, as rows."""
    returns: list[list[float]] = field(default_factory=list[list[float]])
    """Raw returns from the step on after each action, one per continuation, in the same order for all."""

    def gains(self) -> Array:
        """Returns the mean return of each alternative minus that of the played action, [actions - 1]."""
        means = np.array([np.mean(returns) for returns in self.returns])
        return means[1:] - means[0]

    @property
    def best(self) -> int:
        """Index of the alternative with the highest mean return."""
        return 1 + int(self.gains().argmax())

    @property
    def lost(self) -> float:
        """Mean return that the played action lost against the best alternative; negative if it was better."""
        return float(self.gains().max())

    @property
    def error(self) -> float:
        """Standard error of `lost`; 0 for a single continuation."""
        difference = np.array(self.returns[self.best]) - np.array(self.returns[0])
        count = len(difference)
        return float(difference.std(ddof=1) / math.sqrt(count)) if count > 1 else 0.0

    @property
    def upper(self) -> float:
        """The loss that is still plausible, for choosing the steps that are tested again."""
        return self.lost + self.error


class BlunderSearch:
    """The passes of a search, from many steps with few lines each to few steps with many lines."""

    def __init__(
        self,
        episode: OpenEpisode,
        policy: Policy,
        player: LinePlayer,
        budget: int,
        horizon: int | None,
        least: float,
        progress: ProgressCallback,
    ) -> None:
        """`budget`: env steps; `horizon`: maximum length of a line after its branch; `least`: the loss of raw
        return from which on a step is of interest."""
        self._episode, self._trace, self._policy = episode, episode.trace, policy
        self._player, self._budget, self._horizon = player, budget, horizon
        self._least, self._progress = least, progress
        self.is_random = player.sampled or player.is_random()
        self.lines = 0
        """Number of lines that were played."""
        self.tested: set[int] = set()
        """The steps at which other actions were tried."""
        self._used = 0
        """Number of continuations whose random numbers were used."""
        steps = len(self._trace)
        obs, masks = episode.replay.obs[:steps], episode.replay.masks
        self._masks = None if masks is None else masks[:steps]
        self._dist = policy.dist(obs, self._masks, episode.states_before(0, steps))
        own = policy.head.for_env(policy.head.mode(self._dist))
        self.deviates = (own != self._trace.action).reshape(steps, -1).any(-1)
        """Whether each action differs from the most likely one of the policy, [T]."""

    def run(self) -> list[Trial]:
        """Returns the steps that were judged. If something is random, these are the ones that were tested
        again, with returns from new random numbers only."""
        steps = len(self._trace)
        shares = _SHARES[self.is_random]
        # 1. If something is random: foreign actions, against the own action of the policy.
        deviating = [t for t in self._suspicious() if self.deviates[t] and self.is_random]
        # Half of what is affordable: after a better action, a line may be longer than the episode.
        repeats = self._affordable_continuations(shares[0] / 2, 2 * len(deviating))
        against_own = (self._trial(step, kept=1) for step in deviating)
        trials = self._compare(against_own, repeats, shares[0], "own actions")
        # 2. As many steps as possible. If all of them are cheap, several continuations each.
        every = 1 + steps // 50
        actions = every * sum(1 + len(self._alternatives(t)) for t in range(0, steps, every))
        repeats = self._affordable_continuations(shares[1] - shares[0], actions)
        others = (self._trial(step) for step in self._order() if step not in self.tested)
        trials += self._compare(others, repeats, shares[1], "all actions")
        # 3. The steps around the worst ones, where not all were tested.
        nearby = [t for t in self._neighbors(trials) if t not in self.tested]
        trials += self._compare(map(self._trial, nearby), repeats, shares[2], "steps nearby")
        # 4. New random numbers for the worst steps, three times: fewer of them, with fewer actions.
        before: dict[int, Trial] = {}
        for share, most, kept in zip(shares[3:], (32, 16, 8), (3, 2, 1), strict=False):
            lines = self._affordable_lines(share) // (1 + kept)
            chosen = self._worst(trials, min(most, max(4, lines // _MIN_CONTINUATIONS)))
            repeats = lines // max(1, len(chosen))
            repeats = min(_MAX_CONTINUATIONS, max(_MIN_CONTINUATIONS, repeats))
            narrowed = [self._narrowed(trial, kept) for trial in chosen]
            trials = self._compare(iter(narrowed), repeats, math.inf, "worst steps")
            trials = [_merged(before.get(trial.step), trial) for trial in trials]
            before = {trial.step: trial for trial in trials}
        return sorted(trials, key=lambda trial: trial.step)

    def _suspicious(self) -> list[int]:
        """Returns all steps: first those whose action is not the policy's own, largest drop of the value
        within the next steps first."""
        steps = len(self._trace)
        # What is lost after the last step is not known.
        value = np.append(self._trace.value, self._trace.value[-1:])
        ahead = np.stack([value[np.minimum(np.arange(steps) + k, steps)] for k in range(1, 6)])
        drop = value[:-1] - ahead.min(0)
        return np.lexsort((-drop, ~self.deviates)).tolist()

    def _order(self) -> Iterator[int]:
        """Yields all steps: suspicious ones in turns with others that are spread over the episode."""
        # Multiples of the golden ratio are spread evenly, however many of them are used.
        steps = np.arange(len(self._trace))
        spread = np.argsort((steps * (math.sqrt(5) - 1) / 2) % 1.0)
        seen: set[int] = set()
        for pair in zip(self._suspicious(), spread.tolist(), strict=True):
            for step in pair:
                if step not in seen:
                    seen.add(step)
                    yield step

    def _neighbors(self, trials: Sequence[Trial]) -> list[int]:
        """Returns the steps between the worst steps and the nearest that were tested."""
        steps = len(self._trace)
        gap = math.ceil(steps / max(1, len(trials)))
        worst = sorted(trials, key=lambda trial: -trial.lost)[:8]
        near = [t.step + k for d in range(1, gap + 1) for t in worst for k in (-d, d)]
        return [step for step in dict.fromkeys(near) if 0 <= step < steps]

    def _worst(self, trials: Sequence[Trial], count: int) -> list[Trial]:
        """Returns the trials that are tested again. Up to half of them are steps at which the action is not
        the policy's own, for which few continuations prove nothing."""
        ranked = sorted(trials, key=lambda trial: -trial.upper)
        suspicious = [trial for trial in ranked if self.deviates[trial.step]][: count // 2]
        others = [t for t in ranked if t not in suspicious and t.upper >= self._least]
        return suspicious + others[: count - len(suspicious)]

    def _alternatives(self, step: int) -> list[Array]:
        mask = None if self._masks is None else self._masks[step]
        return alternatives(
            self._policy.head, self._dist[step], mask, np.asarray(self._trace.action[step])
        )

    def _trial(self, step: int, kept: int | None = None) -> Trial:
        """Returns a trial of the played action and its alternatives: the first `kept` of them, the policy's
        own before others."""
        actions = [np.asarray(self._trace.action[step]), *self._alternatives(step)[:kept]]
        return Trial(step, actions)

    def _narrowed(self, trial: Trial, kept: int) -> Trial:
        """Returns a trial of the played action and the best `kept` alternatives, without returns."""
        if len(trial.actions) <= kept:  # not all alternatives were tried
            return self._trial(trial.step, kept)
        best = 1 + np.argsort(-trial.gains(), kind="stable")[:kept]
        actions = [trial.actions[0], *(trial.actions[i] for i in best)]
        return Trial(trial.step, actions)

    def _affordable_continuations(self, share: float, actions: int) -> int:
        """Returns how often each of these actions can be continued with a share of the budget, about."""
        if not self.is_random:
            return 1
        count = int(share * self._budget / (max(1, actions) * len(self._trace)))
        return min(_FIRST_CONTINUATIONS, max(1, count))

    def _affordable_lines(self, share: float) -> int:
        """Returns the number of lines that this share of the budget still allows."""
        per_line = self._player.env_steps / max(1, self.lines)
        return int(max(0.0, share * self._budget - self._player.env_steps) / per_line)

    def _compare(
        self, trials: Iterator[Trial], repeats: int, share: float, text: str
    ) -> list[Trial]:
        """Plays the lines of trials and returns these trials; none is started after this share of the budget
        was used. `repeats`: continuations of each action."""
        begun: list[Trial] = []
        first, self._used = self._used, self._used + repeats
        places: dict[Branch, tuple[list[float], int]] = {}
        """Branch -> the list and the index at which its return belongs."""

        def branches() -> Iterator[Branch]:
            for trial in trials:
                if begun and self._player.env_steps > share * self._budget:
                    return
                begun.append(trial)
                known = self._known_return(trial.step)
                trial.returns = [[math.nan] * repeats for _ in trial.actions]
                if known is not None:
                    trial.returns[0] = [known] * repeats
                for i, k in itertools.product(
                    range(known is not None, len(trial.actions)), range(repeats)
                ):
                    continuation = first + k if self.is_random else None
                    branch = Branch(trial.step, trial.actions[i], continuation)
                    places[branch] = trial.returns[i], k
                    yield branch

        for line in self._player.play(branches(), horizon=self._horizon):
            returns, k = places.pop(line.branch)
            returns[k] = line.return_to_go
            self.lines += 1
            done = min(self._player.env_steps, self._budget)
            self._progress(done, self._budget, text)
        self.tested |= {trial.step for trial in begun}
        return begun

    def _known_return(self, step: int) -> float | None:
        """Returns the return of the played action without playing a line, where the episode itself is that
        line: nothing is random, and all later actions are the policy's own."""
        if self.is_random or self._horizon is not None or self.deviates[step + 1 :].any():
            return None
        return math.fsum(self._trace.reward[step:].tolist())


def _merged(before: Trial | None, trial: Trial) -> Trial:
    """Returns a trial with the returns of an earlier one of the same step too, which had more actions."""
    if before is None:
        return trial
    earlier = {
        id(action): list(r) for action, r in zip(before.actions, before.returns, strict=True)
    }
    returns = [
        earlier[id(action)] + r for action, r in zip(trial.actions, trial.returns, strict=True)
    ]
    return Trial(trial.step, trial.actions, returns)
