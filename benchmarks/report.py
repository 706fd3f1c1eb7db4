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
    "recording": ("Cost of metrics, alerts and traces", recording.section),
    "memory": ("Memory", memory.section),
    "scaling": ("Scaling", scaling.section),
    "backends": ("Backends", backends_table.section),
    "tag": ("The tag environment", tag.section),
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
# Training speed compared with other libraries

<!-- generated from benchmarks/results/*.json by `python -m benchmarks.report` -->

![env steps per CPU second of every library, per task](images/benchmarks.svg)

PPO on one core and one thread, with the same hyperparameters and networks for every library. In each
round, gymnast, every other library and the environment alone run one right after the other. Speeds are
medians over the rounds. Ratios (median, lowest to highest) are between samples of the same round: the
machines are shared and noisy, so ratios carry over to other machines and speeds do not.

## Goals

{goals}

## Tasks

{settings}

For vector observations there are two separate tanh MLPs of {widths} units. Gradients are clipped at a norm
of 0.5, the value loss has a weight of 0.5, and Adam uses eps 1e-5; observations and rewards are not
normalized. Our samples have more env steps, so that all samples take about the same time; by the end of
ours, episodes of CartPole are longer and are reset less often.

## Speeds

{speeds}

{absent}
The timed part is training: creating environments, networks and the optimizer, collection and updates.
One-time costs (imports, the first update, compilation) come before and are not included; nothing is
evaluated. For gymnast the timed part is the whole call of `gymnast.train(...)`, with metrics, alerts,
traces, log, console and checkpoints on. The other libraries print and save nothing, except for PufferLib
and Sample Factory, which report and save as they do by default. The return is the mean of the last 100
training episodes; since it is measured after different numbers of env steps, it only shows that each
library learns.

- SB3: `DummyVecEnv`, without the render mode that it would set; Pong with `make_atari_env` and
  `VecFrameStack`.
- CleanRL-style and LeanRL-style: our own scripts (`benchmarks/peers/cleanrl.py`, `leanrl.py`) in the style
  of these projects, eager and compiled by torch; `SyncVectorEnv`, and ALE's vector environment for Pong.
- SBX: SB3's PPO in JAX, on the same environments.
- PufferLib: task f uses its own CartPole in C, which ends episodes after 200 steps; tasks a and b use
  Gymnasium's. It samples minibatches by priority and clips the value loss; in task a its learning rate
  follows a cosine and its clip range is constant.
- Sample Factory: synchronous, in one process. It clips the value loss; in task a its learning rate and clip
  range are constant.
- gymnast: environment copies in the training process; ALE's vector environment in task d, CartPole's NumPy
  vector environment in task f. In tasks a, b and c, CartPole and LunarLander use the faster step functions
  of `gymnast/envs/build/fast_step`, which return bit-identical results to Gymnasium's. Users get them under
  the same environment names.
- The environment alone: random actions, without any library; unwrapped copies stepped one after the other,
  or the environment's own vector implementation in tasks d and f.

### Pong on two cores

Wall time; results with one thread are in the table above. For gymnast also with the next rollout collected
during the update (`overlap`), and with convolutions in bfloat16 (`policy.precision`), which take half the
time on processors that support it ([effect on learning](decisions/0010-precision.md)).

{two_cores}

## One-time costs

CPU seconds of a command outside of the timed part. Compilation is that of the first round; later rounds
find the result in a cache.

{once}

{first_step}

## Where gymnast spends its time

Shares of the wall time of the training loop, from the metrics of the runs, and the speed of gymnast as a
share of that of the environment alone, which does not train anything.

{splits}

{further}

## How to repeat this

```
make bench                                                      # everything
pip install -e '.[bench]'
benchmarks/setup                                                # install the other libraries
python -m benchmarks.run                                        # the comparison and this page
python -m benchmarks.run --tasks a,b --repetitions 5            # measure some tasks again
python -m benchmarks.run --tasks a --peers sb3,cleanrl --quick  # a short test, nothing is stored
python -m benchmarks.solving
python -m benchmarks.recording
python -m benchmarks.memory
python -m benchmarks.scaling
python -m benchmarks.backends
python -m benchmarks.tag
python -m benchmarks.ours a 40960 1 /tmp/runs                   # one sample of gymnast
benchmarks/.venv/bin/python -m benchmarks.peers.sb3 a 40960 1   # one sample of another library
```

{surroundings}
"""


if __name__ == "__main__":
    write()
