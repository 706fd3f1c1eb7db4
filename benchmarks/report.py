"""docs/benchmarks.md from the stored samples: `python -m benchmarks.report`. No number is typed."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.tasks import HIDDEN, TASKS

SOURCE = Path(__file__).parent / "results" / "against-sb3.json"
BACKENDS = SOURCE.with_name("backends.json")
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

Sample = dict[str, Any]
Samples = dict[str, list[Sample]]


def write() -> None:
    PAGE.write_text(page(*(json.loads(path.read_text()) for path in (SOURCE, BACKENDS))))


def speed(sample: Sample, part: str = "learning") -> float:
    """Env steps per CPU second."""
    return sample["env_steps"] / sample[part]


def ratios(samples: Samples, part: str = "learning") -> list[float]:
    """Ours to SB3, each sample against the one taken right after it."""
    pairs = zip(samples["ours"], samples["sb3"], strict=True)
    return [speed(ours, part) / speed(sb3, part) for ours, sb3 in pairs]


def page(found: dict[str, Any], backends: dict[str, Any]) -> str:
    """`found` beside SB3; `backends` beside Gymnasium's vectors."""
    tasks = found["tasks"]
    return _PAGE.format(
        source=SOURCE.name,
        backends_source=BACKENDS.name,
        backends=_backends(backends),
        backends_repetitions=backends["repetitions"],
        backends_surroundings=_when(backends),
        widths=" and ".join(map(str, HIDDEN)),
        repetitions=found["repetitions"],
        speeds=_speeds(tasks),
        wholes=_wholes(tasks),
        first_step=_first_step(found["first_step"]),
        splits=_splits(tasks),
        surroundings=_surroundings(found),
    )


def _speeds(tasks: dict[str, Samples]) -> str:
    rows = []
    for letter, samples in tasks.items():
        task = TASKS[letter]
        setting = [task.env, f"{task.n_envs} x {task.n_steps}", task.batch_size, task.epochs]
        ours, sb3, alone = (median(map(speed, samples[who])) for who in ("ours", "sb3", "alone"))
        rows.append(
            [letter, *setting, _round(ours), _round(sb3), _times(ratios(samples)), _round(alone)]
        )
    head = ("task", "environment", "rollout", "batch", "epochs", "gymnast", "SB3", "ratio")
    return _table((*head, "environment alone"), rows)


def _wholes(tasks: dict[str, Samples]) -> str:
    rows = []
    for letter, samples in tasks.items():
        one = samples["ours"][0]
        seconds = [median(s["whole"] for s in samples[who]) for who in ("ours", "sb3")]
        returns = [median(s["episode_return"] for s in samples[who]) for who in ("ours", "sb3")]
        cells = [f"{one['env_steps']:,}", f"{one['updates']:,}", *(f"{x:.1f}" for x in seconds)]
        rows.append(
            [letter, *cells, _times(ratios(samples, "whole")), *(f"{x:.0f}" for x in returns)]
        )
    head = ("task", "env steps", "updates", "gymnast, s", "SB3, s", "ratio")
    return _table((*head, "return, gymnast", "return, SB3"), rows)


def _first_step(samples: Samples) -> str:
    ours, sb3 = (median(s["whole"] for s in samples[who]) for who in ("ours", "sb3"))
    return (
        f"`gymnast train CartPole-v1` takes {ours:.2f} CPU seconds to its first environment step, "
        f"an SB3 script {sb3:.2f}: {ours / sb3:.2f} of it."
    )


def _splits(tasks: dict[str, Samples]) -> str:
    rows = []
    for letter, samples in tasks.items():
        splits = [sample["split"] for sample in samples["ours"]]
        shares = (median(s[f"time/{part}"] / sum(s.values()) for s in splits) for part in _PARTS)
        rows.append([letter, *(f"{share:.1%}" for share in shares)])
    return _table(("task", *_PARTS), rows)


def backend_ratios(samples: Samples, who: str, peer: str, part: str = "cpu") -> list[float]:
    """One to another, each sample against the one of the same round."""
    pairs = zip(samples[who], samples[peer], strict=True)
    return [speed(one, part) / speed(other, part) for one, other in pairs]


def _backends(found: dict[str, Any]) -> str:
    rows = []
    for task in found["tasks"]:
        samples: Samples = task["samples"]
        for who, of in samples.items():
            name = f"`{who}`" if who.islower() else who
            best = _round(max(speed(one, "wall") for one in of))
            usual = _round(median(speed(one, "cpu") for one in of))
            ratios = (
                "" if who == peer else _times(backend_ratios(samples, who, peer, part))
                for part, peer in _BESIDE
            )
            rows.append([task["env"], task["n_envs"], name, best, usual, *ratios])
    head = ("environment", "copies", "backend", "best per second", "per CPU second")
    beside = (f"beside {peer}{', wall' if part == 'wall' else ''}" for part, peer in _BESIDE)
    return _table((*head, *beside), rows)


_BESIDE = (("cpu", "SyncVectorEnv"), ("cpu", "AsyncVectorEnv"), ("wall", "AsyncVectorEnv"))


def _when(found: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"`{found['command']}` on {found['date']} at revision `{found['revision']}`, "
        f"{found['hardware']['cores']} cores of {found['hardware']['model']}, "
        f"{found['workers']} workers. {versions}."
    )


def _surroundings(found: dict[str, Any]) -> str:
    hardware = found["hardware"]
    versions = "; ".join(
        f"{who}: {', '.join(f'{name} {number}' for name, number in names.items())}"
        for who, names in found["versions"].items()
        if who != "alone"
    )
    return (
        f"This page: `{found['command']}` on {found['date']} at revision `{found['revision']}`, "
        f"one of {hardware['cores']} cores of {hardware['model']}. {versions}."
    )


def _times(values: list[float]) -> str:
    """The median, and how far the repetitions lie apart."""
    return f"**{median(values):.2f}** ({min(values):.2f} to {max(values):.2f})"


def _round(number: float) -> str:
    """Three digits are more than these measurements hold."""
    return f"{float(f'{number:.3g}'):,.0f}"


def _table(head: tuple[str, ...], rows: list[list[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


_PARTS = ("env", "inference", "update", "checkpoint", "rest")
_PAGE = """\
# Training speed beside Stable-Baselines3

<!-- made from benchmarks/results/{source} by `python -m benchmarks.report` -->

PPO in env steps per CPU second of the learning part, on one core and one thread, with the same
hyperparameters and two separate tanh MLPs of {widths} units. Medians of {repetitions} repetitions;
in each of them gymnast, SB3 and the environment alone run one right after the other. A ratio
(median, lowest to highest) is of neighbouring samples: machines are shared and noisy, so ratios
travel and speeds do not.

{speeds}

The learning part is everything but imports. For gymnast that is the whole of `gymnast.train(...)`,
with metrics, alerts, traces, log, console and checkpoints on; for SB3 it is making the environments
(`DummyVecEnv`, without the render mode it would set), `PPO(...)` and `.learn(...)`, silent. Neither
evaluates. The environment alone is stepped with random actions, without any library.

## Whole command

CPU seconds of the process tree from start to exit, imports included. Return: mean of the last
100 training episodes.

{wholes}

{first_step}

## Where our time goes

Shares of the seconds of the loop, from the runs' own rows.

{splits}

## Backends

<!-- made from benchmarks/results/{backends_source} -->

Random actions in copies of an environment, nothing else: `env.backend` of gymnast beside Gymnasium's
vectors. Steps of episodes are counted, not the calls that only reset. Medians of
{backends_repetitions} rounds; in each the backends run one right after the other, on all cores,
beside whatever else the machine does, so a second of CPU says more than one of the clock: a vector
of 16 processes gets more of a busy machine than one of 2. Ratios are within a round.

{backends}

Workers cost CPU time for the way there and back, and save time where cores are free and a vector
step takes more than about half a millisecond. On short episodes SyncVectorEnv gains on `inprocess`
because it resets without a seed: ours gives each episode one of its own. {backends_surroundings}

## To repeat this

```
pip install -e '.[box2d,mujoco]'
benchmarks/setup                                              # SB3 in a place of its own
python -m benchmarks.run                                      # the samples and this page
python -m benchmarks.backends                                 # the section on backends
python -m benchmarks.ours a 40960 /tmp/runs                   # one sample of ours
benchmarks/.venv/bin/python -m benchmarks.peers.sb3 a 40960   # one sample of SB3
```

{surroundings}
"""


if __name__ == "__main__":
    write()
