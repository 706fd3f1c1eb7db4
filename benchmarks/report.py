"""docs/benchmarks.md and its picture from the stored samples: `python -m benchmarks.report`.

No number is typed.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks import (
    backends_table,
    chart,
    comparison,
    goals,
    measurement,
    memory,
    recording,
    results,
    scaling,
    solving,
    tag,
)
from benchmarks.tasks import HIDDEN
from benchmarks.timed import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
CHART = ROOT / "docs" / "images" / "benchmarks.svg"
FURTHER = {
    "solving": ("Time to solved", solving.section),
    "recording": ("What the record costs", recording.section),
    "memory": ("Memory", memory.section),
    "scaling": ("Scaling", scaling.section),
    "backends": ("Backends", backends_table.section),
    "tag": ("The arena of tag", tag.section),
}
"""Measurement -> its heading and what writes it."""


def write() -> None:
    found = load()
    PAGE.write_text(page(found))
    CHART.write_text(chart.draw(found["tasks"]))


def load() -> dict[str, Any]:
    """Everything that is stored."""
    found = json.loads(results.COMPARISON.read_text())
    return found | {name: measurement.stored(name) for name in FURTHER}


def page(found: dict[str, Any]) -> str:
    tasks = found["tasks"]
    further = "\n\n".join(
        f"## {title}\n\n{section(found[name]) if found[name] else 'Not measured yet.'}"
        for name, (title, section) in FURTHER.items()
    )
    return _PAGE.format(
        goals=goals.section(found),
        settings=comparison.settings(),
        widths=" and ".join(map(str, HIDDEN)),
        speeds=comparison.speeds(tasks),
        absent=comparison.absent(tasks),
        two_cores=comparison.two_cores(tasks),
        once=comparison.once(tasks),
        first_step=comparison.first_step(found.get("first_step")),
        splits=comparison.splits(tasks),
        further=further,
        surroundings=comparison.surroundings(tasks),
    )


_PAGE = """\
# Training speed beside other libraries

<!-- made from benchmarks/results/*.json by `python -m benchmarks.report` -->

![env steps per CPU second of every library, per task](images/benchmarks.svg)

PPO on one core and one thread with the same hyperparameters and networks. In each round gymnast,
every peer and the environment alone run one right after the other; numbers are medians of the
rounds, and a ratio (median, lowest to highest) is of samples of the same round: machines are shared
and noisy, so ratios travel and speeds do not.

## Goals

{goals}

## Tasks

{settings}

Vectors: two separate tanh MLPs of {widths} units. Gradients are clipped at 0.5, the value loss counts
half, Adam with eps 1e-5; observations and rewards are not normalised. Our samples are longer, so that
all are timed for about as long; by their end CartPole's episodes are longer and are reset less often.

## Speeds

{speeds}

{absent}
Timed is learning: the making of environments, networks and optimiser, collection and updates. What
is done once (imports, the first update, compilation) happens before; nobody evaluates. For gymnast
it is the whole of `gymnast.train(...)`, with metrics, alerts, traces, log, console and checkpoints on;
peers are silent and save nothing, except PufferLib and Sample Factory, which report and save as they
ship. Return: of the last 100 training episodes; after different numbers of env steps, so it only shows
that they learn.

- SB3: `DummyVecEnv` without the render mode that it would set; Pong by `make_atari_env` and
  `VecFrameStack`.
- CleanRL-style and LeanRL-style: scripts of ours (`benchmarks/peers/cleanrl.py`, `leanrl.py`) in the
  manner of these, eager and compiled by torch; `SyncVectorEnv`, Pong by ALE's own vector.
- SBX: SB3's PPO in JAX, on the same environments.
- PufferLib: f on its own CartPole in C, which ends episodes after 200 steps; a and b on Gymnasium's. It
  draws minibatches by priority and clips the value loss; in a its learning rate falls as a cosine and
  its clip range stays.
- Sample Factory: in one process, synchronous. It clips the value loss; in a its learning rate and clip
  range stay.
- gymnast: copies in this process; in d ALE's own vector, in f CartPole's own vector in NumPy. In a, b
  and c CartPole and LunarLander step by `gymnast/envs/quick`: Gymnasium's numbers to the last bit, in
  less time. Its users get these for the same names.
- The environment alone: random actions, without any library; bare copies one after the other, or the
  environment's own vector in d and f.

### Pong on two cores

By the clock; one thread of each is in the table above. Ours also with the next rollout collected
while the last one is learned from (`overlap`), and with the convolutions in bfloat16
(`policy.precision`), which processors that have it compute in half the time
([what it does to learning](decisions/0010-precision.md)).

{two_cores}

## What is done once

CPU seconds of a command that are not learning. Compilation is that of the first round; later ones
find it in a cache.

{once}

{first_step}

## Where our time goes

Shares of the seconds of the loop, from the runs' own rows, and our speed as a share of that of the
environment alone, which has nothing to learn.

{splits}

{further}

## To repeat this

```
make bench                                                      # all of it
pip install -e '.[bench]'
benchmarks/setup                                                # the peers, in places of their own
python -m benchmarks.run                                        # the comparison and this page
python -m benchmarks.run --tasks a,b --repetitions 5            # some tasks anew
python -m benchmarks.run --tasks a --peers sb3,cleanrl --quick  # a short look, nothing replaced
python -m benchmarks.solving
python -m benchmarks.recording
python -m benchmarks.memory
python -m benchmarks.scaling
python -m benchmarks.backends
python -m benchmarks.tag
python -m benchmarks.ours a 40960 1 /tmp/runs                   # one sample of ours
benchmarks/.venv/bin/python -m benchmarks.peers.sb3 a 40960 1   # one sample of a peer
```

{surroundings}
"""


if __name__ == "__main__":
    write()
