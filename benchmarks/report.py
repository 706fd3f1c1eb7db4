"""Generates docs/benchmarks.md and its picture from the stored samples: `python -m benchmarks.report`.

No number is typed by hand.
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
    recurrent,
    results,
    scaling,
    solving,
    tag,
)
from benchmarks.code_revision import ROOT
from benchmarks.distributed import section as distributed
from benchmarks.tasks import HIDDEN

PAGE = ROOT / "docs" / "benchmarks.md"
CHART = ROOT / "docs" / "images" / "benchmarks.svg"
FURTHER = {
    "recurrent": ("Policies with memory", recurrent.section),
    "solving": ("Time to solved", solving.section),
    "recording": ("Cost of recording", recording.section),
    "memory": ("Memory", memory.section),
    "scaling": ("Scaling", scaling.section),
    "backends": ("Backends", backends_table.section),
    "tag": ("The tag environment", tag.section),
    "distributed": ("Several hosts", distributed.section),
}
"""Measurement -> its heading and the function that writes its section."""


def write() -> None:
    found = load()
    PAGE.write_text(page(found))
    CHART.write_text(chart.draw(found["tasks"]))


def load() -> dict[str, Any]:
    """Returns all stored measurements."""
    found = json.loads(results.COMPARISON.read_text())
    return found | {name: measurement.load_entry(name) for name in FURTHER}


def page(found: dict[str, Any]) -> str:
    """Returns the content of docs/benchmarks.md for these measurements."""
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
        absent=comparison.not_timed(tasks),
        two_cores=comparison.two_cores(tasks),
        once=comparison.one_time_costs(tasks),
        first_step=comparison.first_step(found.get("first_step")),
        splits=comparison.phase_times(tasks),
        further=further,
        surroundings=comparison.measurement_lines(tasks),
    )


_PAGE = """\
# Training speed compared with other libraries

<!-- generated from benchmarks/results/*.json by `python -m benchmarks.report` -->

![env steps per CPU second of every library, per task](images/benchmarks.svg)

PPO on one core and one thread with the same hyperparameters and networks. In each round gymnast, every
peer and the environment alone run directly after each other. Numbers are medians over rounds; ratios
(median, lowest to highest) compare samples of the same round. Machines are shared and noisy, so ratios
can be compared between machines and speeds cannot.

## Goals

{goals}

## Tasks

{settings}

Vector observations: two separate tanh MLPs of {widths} units. Gradients are clipped at 0.5, the value
loss has weight 0.5, Adam has eps 1e-5; observations and rewards are not normalized. Our samples have
more env steps, so that all libraries are timed for about as long; by their end the episodes of CartPole
are longer, so that it is reset less often.

## Speeds

{speeds}

{absent}
Timed is learning: creating environments, networks and optimizer, collection and updates. One-time costs
(imports, the first update, compilation) are excluded; there is no evaluation. For gymnast the whole of
`gymnast.train(...)` is timed, with metrics, alerts, traces, log, console and checkpoints enabled; peers
print and save nothing, except PufferLib and Sample Factory, which report and save by default. Return is
the mean of the last 100 training episodes; since libraries take different numbers of env steps, it only
shows that they learn.

- SB3: `DummyVecEnv` without the render mode that it would set; Pong by `make_atari_env` and
  `VecFrameStack`.
- CleanRL-style and LeanRL-style: our own scripts in the style of these libraries
  (`benchmarks/peers/cleanrl.py`, `leanrl.py`), eager and compiled by torch; `SyncVectorEnv`, Pong with
  ALE's own vector environment.
- SBX: SB3's PPO in JAX, on the same environments.
- PufferLib: f on its own CartPole in C, which ends episodes after 200 steps; a and b on Gymnasium's. It
  samples minibatches by priority and clips the value loss; in a its learning rate follows a cosine and
  its clip range is constant.
- Sample Factory: in one process, synchronous. It clips the value loss; in a its learning rate and clip
  range are constant.
- gymnast: copies in this process; in d ALE's own vector environment, in f CartPole's own, in NumPy. In a, b
  and c CartPole and LunarLander step by `gymnast/envs/build/fast_step`: Gymnasium's numbers to the last
  bit, in less time. Its users get these for the same names.
- The environment alone: random actions, without an RL library; unwrapped copies stepped one by one, or the
  environment's own vector environment in d and f.

### Pong on two cores

Wall time; the table above has one thread of each. gymnast is also timed with `overlap`, which collects
the next rollout during the update, and with the convolutions in bfloat16 (`policy.precision`), which
takes half the time on processors that support it ([effect on learning](decisions/0010-precision.md)).

{two_cores}

## One-time costs

CPU seconds of a command that are not learning. Compilation time is that of the first round; later rounds
use a cache.

{once}

{first_step}

## Time per phase

Fractions of the time of the training loop, from the metrics of the runs, and our speed as a fraction of
that of the environment alone, without learning.

{splits}

{further}

## How to repeat this

```
make bench                                                      # all of it
pip install -e '.[bench]'
benchmarks/setup                                                # the peers, in their own virtual environments
python -m benchmarks.run                                        # the comparison and this page
python -m benchmarks.run --tasks a,b --repetitions 5            # only some tasks
python -m benchmarks.run --tasks a --peers sb3,cleanrl --quick  # a short run, no stored result is replaced
python -m benchmarks.recurrent
python -m benchmarks.solving
python -m benchmarks.recording
python -m benchmarks.memory
python -m benchmarks.scaling
python -m benchmarks.backends
python -m benchmarks.tag
python -m benchmarks.distributed
python -m benchmarks.ours a 40960 1 /tmp/runs                   # one sample of gymnast
benchmarks/.venv/bin/python -m benchmarks.peers.sb3 a 40960 1   # one sample of a peer
```

{surroundings}
"""


if __name__ == "__main__":
    write()
