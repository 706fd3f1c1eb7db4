"""Requests to train and to resume, as values that the command line, the API, jobs and groups share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gymnast.errors import UsageError


@dataclass(frozen=True)
class TrainRequest:
    """A request to train a new run."""

    target: str
    """`ENV[:variant]`."""
    overrides: Mapping[str, object] = field(default_factory=dict[str, object])
    """Config key -> value: dotted keys, or nested mappings."""
    algo: str | None = None
    """The algorithm to use instead of the one of the variant."""
    seed: int | None = None
    """Root seed of all randomness; None: that of the config."""
    source: str | None = None
    """A run, or RUN:CHECKPOINT, whose weights it starts from."""
    name: str = ""
    tags: tuple[str, ...] = ()
    group: str | None = None
    """Id of its group of seeds."""
    debug: bool = False
    """Run everything in one process with extra checks: the same results, slower."""
    requeue: bool = False
    """Continue the run with this name if it exists; SIGUSR1 requeues a SLURM job."""
    pause_at: int | None = None
    """Stop at the first evaluation point at or after this many env steps, to be resumed later."""

    def settings(self) -> dict[str, object]:
        """Returns the overrides of the config, including the seed."""
        return dict(self.overrides) | ({} if self.seed is None else {"seed": self.seed})


@dataclass(frozen=True)
class ResumeRequest:
    """A request to continue a run."""

    run: str
    """A reference to a run; RUN:CHECKPOINT is the same as `at`."""
    at: str = "latest"
    """The checkpoint: best, latest, or its env steps. From an earlier one than the newest, a new run
    branches off."""
    overrides: Mapping[str, object] = field(default_factory=dict[str, object])
    """Config key -> new value."""
    fresh_optimizer: bool = False
    """Discard the state of the optimizer."""
    name: str = ""
    """A name for the branch."""
    tags: tuple[str, ...] = ()
    """Tags for the branch."""
    debug: bool = False
    pause_at: int | None = None
    """Stop at the first evaluation point at or after this many env steps, to be resumed later."""

    def checkpoint(self, named: str | None) -> str:
        """Returns the checkpoint to resume from. `named`: the one in the reference to the run, if any. Raises
        UsageError if `at` is another one."""
        if named is not None and self.at not in ("latest", named):
            problem = f"{self.run} names checkpoint {named}, but --at names {self.at}"
            raise UsageError(problem, fix="use one of them")
        return named or self.at
