"""Makes docs/studies/bandits.json and docs/images/bandits.png: the regret of PPO and of classical rules.

For the fixed bandits, this is the cumulative regret from the first pull on, over many episodes, while PPO or
a rule learns which arm is best. For the drifting bandit, it is the regret within held-out episodes, of a
policy that was trained before. The rules observe the same decayed statistics and need no training.

    python docs/studies/bandits.py RUNS_DIR        # train, play, store, draw
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.suites.bandits import DECAY
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_traces
from gymnast.training.python_api import train

FILE = Path(__file__).with_suffix(".json")
PICTURE = Path(__file__).parents[1] / "images" / "bandits.png"
SEEDS = (0, 1, 2)
LIVES = {"Bandit-v0": 20_000, "Bandit-contextual-v0": 40_000}
"""Number of pulls over which the regret of a fixed bandit is summed."""
DRIFTING, EPISODES, POINTS = "Bandit-drifting-v0", 1000, 100
Chooser = Callable[[np.ndarray, np.ndarray, np.random.Generator], int]
"""A rule: (wins of each arm, pulls of each arm, random generator) -> the arm to pull."""


def ucb(wins: np.ndarray, pulls: np.ndarray, _: np.random.Generator) -> int:
    """Returns the arm with the highest upper confidence bound (UCB1)."""
    mean = wins / np.maximum(pulls, 1e-9)
    bonus = np.sqrt(2 * np.log(max(pulls.sum(), 2)) / np.maximum(pulls, 1e-9))
    return int(np.argmax(mean + bonus))


def thompson(wins: np.ndarray, pulls: np.ndarray, chance: np.random.Generator) -> int:
    """Returns the arm with the highest probability, sampled from its Beta posterior (Thompson sampling)."""
    return int(np.argmax(chance.beta(1 + wins, 1 + np.maximum(pulls - wins, 0))))


def epsilon_greedy(wins: np.ndarray, pulls: np.ndarray, chance: np.random.Generator) -> int:
    """Returns a random arm with probability 0.1, else the one with the highest (smoothed) share of wins."""
    if chance.random() < 0.1:
        return int(chance.integers(len(wins)))
    return int(np.argmax((wins + 0.5) / (pulls + 1)))


def random_arm(wins: np.ndarray, _: np.ndarray, chance: np.random.Generator) -> int:
    return int(chance.integers(len(wins)))


RULES: dict[str, Chooser] = {
    "UCB": ucb,
    "Thompson": thompson,
    "epsilon-greedy": epsilon_greedy,
    "random": random_arm,
}


def lifetime_regret(env_id: str, rule: Chooser, pulls: int, seed: int) -> np.ndarray:
    """Returns the regret after each pull of a rule that keeps counts per context through all episodes."""
    env: Any = make_env(EnvConfig(id=env_id)).unwrapped
    contexts, arms = env.chance.shape
    wins, pulled = np.zeros((contexts, arms)), np.zeros((contexts, arms))
    chance, lost, total, episode = np.random.default_rng(seed), list[float](), 0.0, 0
    obs, _ = env.reset(seed=seed)
    while len(lost) < pulls:
        arm = rule(wins[obs], pulled[obs], chance)
        seen = obs
        obs, reward, over, _, info = env.step(arm)
        wins[seen, arm] += reward
        pulled[seen, arm] += 1
        lost.append(total + info["regret"])
        if over:
            total, episode = lost[-1], episode + 1
            obs, _ = env.reset(seed=1000 * (seed + 1) + episode)
    return np.array(lost)


def episode_regret(rule: Chooser, seed: int) -> np.ndarray:
    """Returns the regret after each pull of an episode, of a rule that discounts old pulls like the
    statistics that the policy observes."""
    env: Any = make_env(EnvConfig(id=DRIFTING)).unwrapped
    env.reset(seed=seed)
    wins, pulled = np.zeros(env.arms), np.zeros(env.arms)
    chance, lost, over = np.random.default_rng(seed), list[float](), False
    while not over:
        arm = rule(wins, pulled, chance)
        _, reward, over, _, info = env.step(arm)
        wins, pulled = wins * DECAY, pulled * DECAY
        wins[arm] += reward
        pulled[arm] += 1
        lost.append(info["regret"])
    return np.array(lost)


def replayed_regret(env_id: str, trace: Trace) -> np.ndarray:
    """Returns the regret after each pull of a recorded episode."""
    env = make_env(EnvConfig(id=env_id))
    env.reset(seed=trace.seed)
    return np.array([env.step(action)[4]["regret"] for action in trace.action])


def training_regret(env_id: str, pulls: int, seed: int) -> np.ndarray:
    """Returns the cumulative regret of PPO from its first pull on. Copies play at the same time, so episodes
    are put in the order of the policy versions that played them."""
    more = {"stop.env_steps": pulls, "stop.eval_return": "off", "traces.train": 1.0}
    run = train(env_id, overrides=more, seed=seed, quiet=True)
    found = [t for file in run.traces.glob("train-*") for t in read_traces(file)]
    found.sort(key=lambda trace: trace.version)
    pieces, total = list[np.ndarray](), 0.0
    for trace in found:
        pieces.append(total + replayed_regret(env_id, trace))
        total = float(pieces[-1][-1])
    return np.concatenate(pieces)[:pulls]


def trained_regret(seed: int) -> np.ndarray:
    """Returns the mean regret within the held-out episodes of a trained policy. A finished run is reused."""
    wanted = {"preset": f"{DRIFTING}:ppo", "seed": seed, "status": "finished"}
    there = [r for r in store.list_runs(store.runs_dir()) if wanted.items() <= vars(r).items()]
    run = Run(Path(there[0].path)) if there else train(DRIFTING, seed=seed, quiet=True)
    (file,) = run.traces.glob("confirm-*")
    return np.mean([replayed_regret(DRIFTING, trace) for trace in read_traces(file)], axis=0)


def curve(lost: list[np.ndarray]) -> dict[str, list[float]]:
    """Returns mean, minimum and maximum over seeds, at about POINTS pulls."""
    length = min(map(len, lost))
    at = np.unique(np.linspace(1, length, POINTS).astype(int))
    every = np.stack([one[at - 1] for one in lost])
    return {
        "pulls": at.tolist(),
        "regret": np.round(every.mean(0), 2).tolist(),
        "least": np.round(every.min(0), 2).tolist(),
        "most": np.round(every.max(0), 2).tolist(),
    }


def measure_all() -> dict[str, dict[str, Any]]:
    """Returns env id -> PPO or rule -> its curve (`curve`). Trains PPO, except for runs that exist."""
    found: dict[str, dict[str, Any]] = {}
    for env_id, pulls in LIVES.items():
        found[env_id] = {"PPO": curve([training_regret(env_id, pulls, seed) for seed in SEEDS])}
        for name, rule in RULES.items():
            found[env_id][name] = curve(
                [lifetime_regret(env_id, rule, pulls, seed) for seed in SEEDS]
            )
    found[DRIFTING] = {"PPO, trained": curve([trained_regret(seed) for seed in SEEDS])}
    for name, rule in RULES.items():
        episodes = np.stack([episode_regret(rule, 10_000 + i) for i in range(EPISODES)])
        found[DRIFTING][name] = curve([episodes.mean(0)])
    return found


COLORS = ((11, 110, 153), (213, 94, 0), (0, 158, 115), (204, 121, 167), (150, 150, 150))
WIDTH, HEIGHT, MARGIN = 320, 240, 44


def draw(found: dict[str, dict[str, Any]]) -> None:
    """Writes PICTURE: one panel per environment of what `measure_all` returned."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    import pygame

    pygame.init()
    sheet = pygame.Surface((len(found) * WIDTH, HEIGHT))
    sheet.fill((255, 255, 255))
    letters, small = pygame.font.Font(None, 18), pygame.font.Font(None, 15)

    def write(
        text: str, place: tuple[float, float], font: Any = small, ink: Any = (60, 60, 60)
    ) -> None:
        sheet.blit(font.render(text, True, ink), place)

    for panel, (env_id, players) in enumerate(found.items()):
        left, bottom = panel * WIDTH + MARGIN, HEIGHT - 34
        wide, high = WIDTH - MARGIN - 12, bottom - 30
        longest = max(c["pulls"][-1] for c in players.values())
        # Scaled to the second largest regret: the curve of random pulls may leave the panel.
        top = 1.15 * sorted(c["regret"][-1] for c in players.values())[-2]
        write(env_id, (left, 8), letters, (20, 20, 20))
        write(f"{longest:,}", (left + wide - 40, bottom + 4))
        write("pulls", (left + wide / 2 - 14, bottom + 4))
        write(f"{top:,.0f}", (left - 38, 28))
        write("regret", (left - 38, 44))
        write("0", (left - 12, bottom - 8))
        pygame.draw.lines(
            sheet, (120, 120, 120), False, [(left, 28), (left, bottom), (left + wide, bottom)]
        )
        sheet.set_clip(pygame.Rect(left, 28, wide + 1, bottom - 27))
        for color, found_curve in zip(COLORS, players.values(), strict=True):
            points = [
                (left + wide * x / longest, bottom - high * y / top)
                for x, y in zip(found_curve["pulls"], found_curve["regret"], strict=True)
            ]
            pygame.draw.lines(sheet, color, False, points, 2)
        sheet.set_clip(None)
        for i, (name, color) in enumerate(zip(players, COLORS, strict=True)):
            write(name, (left + 8, 30 + 13 * i), small, color)
    pygame.image.save(sheet, PICTURE)


if __name__ == "__main__":
    os.environ["GYMNAST_RUNS"], os.environ["GYMNAST_FILM"] = sys.argv[1], "off"
    curves = measure_all()
    FILE.write_text(json.dumps(curves, indent=None, separators=(",", ":")) + "\n")
    draw(curves)
