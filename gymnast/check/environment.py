"""Steps an environment with random actions and checks it against the Gymnasium API and its facts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

from gymnast.check.actions import (
    MaskCheck,
    UnchangedActionCheck,
    check_action_labels,
    check_extreme_actions,
    random_policy,
)
from gymnast.check.checked_env import CheckedEnv, EnvBroken, Timestep, env_traceback
from gymnast.check.determinism import Transcript, check_determinism
from gymnast.check.episode_ends import EpisodeEndCheck
from gymnast.check.finding import CheckReport, Finding
from gymnast.check.observations import AliasingCheck, DeclaredRangeCheck, FiniteCheck, ObsSpaceCheck
from gymnast.check.observer import Observer
from gymnast.check.rendering import FRAMES, check_rendering
from gymnast.check.rewards import RewardCheck
from gymnast.config.config import Config
from gymnast.envs.build.make import make_env
from gymnast.envs.build.strip_wrappers import time_limit
from gymnast.envs.env_types import Env
from gymnast.errors import EnvError
from gymnast.progress import ProgressCallback, no_progress
from gymnast.seeds import episode_seed, stream
from gymnast.spaces import spaces
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.text.formatting import count_noun

STEPS = 2_000
"""Number of random steps."""
_PATIENCE = 3
"""Number of episodes that may fail before the check gives up."""
_DECLARED = ("actions", "observations", "reward", "returns", "threshold", "fps")


def check_environment(
    target: str,
    cfg: Config,
    *,
    steps: int = STEPS,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> CheckReport:
    """Returns the findings of all checks. `target`: name of the environment in the report; `steps`: number of
    random steps; `seed`: root of the random stream. Raises EnvError for an unknown name or a missing
    package."""
    make = partial(make_env, cfg.env)
    try:
        copy = CheckedEnv(make)
    except EnvError as problem:
        return creation_failure(target, problem)
    with closing(copy), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium's, about what is reported here in full
        check = _EnvironmentCheck(cfg, copy, make, seed)
        findings = [*check.findings(steps, on_progress)]
        return CheckReport.of(target, copy.steps, copy.resets, findings)


def creation_failure(target: str, problem: EnvError) -> CheckReport:
    """Returns the report for an environment whose module or constructor raised. Raises other problems
    again."""
    if problem.__cause__ is None:
        raise problem
    text = env_traceback(problem.__cause__)
    return CheckReport.of(target, 0, 0, [Finding("made", "wrong", problem.message, "", text)])


class _EnvironmentCheck:
    """All checks of one environment. `make` creates further copies of the one in `copy`."""

    def __init__(self, cfg: Config, copy: CheckedEnv, make: Callable[[], Env], seed: int) -> None:
        self.cfg, self.copy, self.make, self.seed = cfg, copy, make, seed

    def findings(self, steps: int, on_progress: ProgressCallback) -> Iterator[Finding]:
        """Runs all checks. Some of them create further copies, which may fail although the first worked."""
        try:
            yield from self._findings(steps, on_progress)
        except EnvError as problem:
            what = f"a second copy cannot be created: {problem.message}"
            text = env_traceback(problem.__cause__) if problem.__cause__ else ""
            yield Finding("made", "wrong", what, "", text)
        else:
            yield Finding("made", "ok")

    def _findings(self, steps: int, on_progress: ProgressCallback) -> Iterator[Finding]:
        """Yields the findings in the order of the checks. Raises EnvError if a further copy cannot be
        created."""
        # 1. The spaces. Nothing else can be checked without them.
        env = self.copy.env
        try:
            obs, action = (
                spaces.convert_obs_space(env.observation_space),
                spaces.convert_action_space(env.action_space),
            )
        except EnvError as problem:
            yield Finding("spaces", "wrong", problem.message)
            return
        facts = facts_for_policy_obs(self.cfg.facts, self.cfg.env, obs)
        obs_space = " ".join(str(env.observation_space).split())
        yield Finding("spaces", "ok", f"{_short(obs_space)} -> {_short(str(env.action_space))}")
        yield from check_action_labels(env.action_space, action, facts)
        yield from self._undeclared()

        # 2. Random episodes, watched by all observers at once.
        last = _LastInfos([*dict.fromkeys(m.source for m in self.cfg.metrics.values())])
        observers: list[Observer] = [
            ObsSpaceCheck(env.observation_space, obs, facts),
            FiniteCheck(obs),
            AliasingCheck(),
            DeclaredRangeCheck(env.observation_space, obs, facts),
            RewardCheck(facts),
            EpisodeEndCheck(env, time_limit(env), self.cfg.training_limit().steps),
            MaskCheck(action, used=self.cfg.env.action_mask),
            UnchangedActionCheck(),
            last,
        ]
        act = random_policy(action, stream(self.seed, "check"))
        played, broken = self._play(observers, act, steps, on_progress)
        yield from broken
        if not any(transcript.fingerprints for transcript in played):
            return  # no reset succeeded, so there is nothing more to check
        if not any(finding.check == "reset" for finding in broken):
            yield Finding("reset", "ok", f"{1e3 * self._per_reset():.3g} ms each")
        if not any(finding.check == "step" for finding in broken):
            yield Finding("step", "ok")
        observed = [finding for observer in observers for finding in observer.findings()]
        yield from observed
        yield from self._speed()
        # 3. Checks with copies of their own: determinism, extreme actions, rendering.
        fresh = partial(CheckedEnv, self.make)
        yield from check_determinism(fresh, played, facts, steps // 4)
        if not broken and not any(finding.check == "actions" for finding in observed):
            with closing(fresh()) as another:
                yield check_extreme_actions(another, action, self._seed(0))
        # If stepping fails anyway, only the reset is rendered: rendering must not get the blame.
        yield from check_rendering(
            self.cfg, env, act, self._seed(0), frames=1 if broken else FRAMES
        )

    def _play(
        self,
        observers: Sequence[Observer],
        act: Callable[[Timestep], object],
        steps: int,
        on_progress: ProgressCallback,
    ) -> tuple[list[Transcript], list[Finding]]:
        """Plays episodes until `steps` steps are taken; `act` returns the action for a timestep. Returns the
        transcripts of the episodes, and at most one finding each for a failed reset and a failed step."""
        copy, played, broken = self.copy, list[Transcript](), dict[str, Finding]()
        taken = failures = 0
        # An episode that fails is abandoned; others may still show more. Its recorded part can be repeated.
        while taken < steps and failures < _PATIENCE:
            transcript = Transcript(self._seed(len(played)))
            played.append(transcript)
            check = "reset"
            try:
                timestep = copy.reset(transcript.seed)
                check = "step"
                self._record(timestep, transcript, observers)
                while not timestep.over and taken < steps:
                    timestep = copy.step(act(timestep))
                    self._record(timestep, transcript, observers)
                    taken += 1
                    on_progress(taken, steps)
            except EnvBroken as problem:
                failures += 1
                finding = Finding(check, "wrong", problem.message, copy.location, problem.traceback)
                broken.setdefault(check, finding)
                copy.recreate()
        return played, list(broken.values())

    def _record(
        self, timestep: Timestep, transcript: Transcript, observers: Sequence[Observer]
    ) -> None:
        """Passes the result of a reset or step to everybody who watches."""
        transcript.add(timestep)
        for observer in observers:
            observer.observe(timestep)

    def _seed(self, episode: int) -> int:
        return episode_seed(self.seed, "check", episode)

    def _undeclared(self) -> Iterator[Finding]:
        """Notes which facts no preset declares."""
        missing = [name for name in _DECLARED if not getattr(self.cfg.facts, name)]
        if missing:
            what = f"not declared in a preset: {', '.join(missing)}"
            yield Finding("facts", "note", what)

    def _per_reset(self) -> float:
        return self.copy.reset_seconds / max(1, self.copy.resets)

    def _speed(self) -> Iterator[Finding]:
        copy = self.copy
        if copy.steps:
            rate = copy.steps / max(copy.step_seconds, 1e-9)
            yield Finding("speed", "note", f"{rate:,.0f} steps per second with one copy")


class _LastInfos:
    """Checks that the last info of episodes has the keys of the preset's metrics."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted, self._seen_keys, self._ended = wanted, set[str](), 0

    def observe(self, timestep: Timestep) -> None:
        if timestep.over:
            self._ended += 1
            self._seen_keys |= timestep.info.keys()

    def findings(self) -> Iterator[Finding]:
        """Yields whether the metrics of the preset were found; nothing if there are none, or if no episode
        ended."""
        missing = [key for key in self._wanted if key not in self._seen_keys]
        if not self._wanted or not self._ended:
            return
        if missing:
            what = f"the last info of {count_noun(self._ended, 'episode')} never has {', '.join(missing)}"
            yield Finding("metrics", "wrong", what)
        else:
            yield Finding("metrics", "ok", ", ".join(self._wanted))


def _short(text: str, length: int = 70) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."
