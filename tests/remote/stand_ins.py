"""Stand-ins for other hosts: `ssh` and the commands of SLURM, which run everything on this machine.

A host of `ssh` has a home directory of its own and none of our environment variables. The stand-in of SLURM
keeps the state of its jobs in a directory, restarts requeued jobs and kills cancelled ones. Both are programs
on the PATH, so gymnast starts them as it would start the real ones.

python -m tests.remote.stand_ins PROGRAM DIR ...      what the programs on the PATH call
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
ENV_MODULE = '''
"""CartPole, which sends its own process a signal once, when all copies together have taken some steps."""

import os
import signal
from pathlib import Path

from gymnasium.envs.classic_control.cartpole import CartPoleEnv

TAKEN = 0


class Preempted(CartPoleEnv):
    def __init__(self, marker="", after=0, number="SIGTERM"):
        super().__init__()
        self.marker, self.after, self.number = Path(marker), after, number

    def step(self, action):
        global TAKEN
        TAKEN += 1
        if TAKEN == self.after and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), getattr(signal, self.number))
        return super().step(action)
'''
"""An environment of the user, the module `own_env`."""


def install(program: str, bin_dir: Path, state: Path) -> None:
    """Puts a program of this name on the PATH directory `bin_dir`; it keeps its state in `state`."""
    bin_dir.mkdir(parents=True, exist_ok=True)
    state.mkdir(parents=True, exist_ok=True)
    file = bin_dir / program
    here = f"cd {REPOSITORY} && exec {sys.executable} -m tests.remote.stand_ins {program} {state}"
    file.write_text(f'#!/bin/sh\nHERE="$PWD"; export HERE; {here} "$@"\n')
    file.chmod(0o755)


def ssh(state: Path, words: list[str]) -> int:
    """ssh [OPTIONS] -- HOST COMMAND: runs the command in the home directory of the host."""
    host, *command = words[words.index("--") + 1 :]
    if (state / "down").exists():
        print(f"ssh: connect to host {host} port 22: No route to host", file=sys.stderr)
        return 255
    if (state / "hangs").exists():
        time.sleep(60)
    home = state / host
    home.mkdir(exist_ok=True)
    environ = {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
    }
    environ |= {"GYMNAST_FILM": "off", "OMP_NUM_THREADS": "1"}
    return subprocess.run(["sh", "-c", " ".join(command)], cwd=home, env=environ).returncode


def sbatch(state: Path, words: list[str]) -> int:
    """Submits a job: a process that runs the script, again after each requeue."""
    options = {name: value for name, _, value in (word.partition("=") for word in words)}
    number = str(1 + sum(file.suffix == ".state" for file in state.iterdir()))
    _write(state, number, "PENDING")
    (state / f"{number}.requeue").write_text("yes" if "--requeue" in words else "no")
    (state / f"{number}.words").write_text("\n".join(words))
    if not (state / "full").exists():
        node = [sys.executable, "-m", "tests.remote.stand_ins", "run", str(state), number]
        node += [options["--output"], words[words.index("--wrap") + 1]]
        subprocess.Popen(
            node,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).returncode = 0  # it outlives this process
    print(f"{number};cluster")
    return 0


def run(state: Path, words: list[str]) -> int:
    """The node of a job: runs its script until it ends without being requeued."""
    number, output, script = words
    environ = {**os.environ, "SLURM_JOB_ID": number}
    while True:
        with open(output, "ab") as file:
            child = subprocess.Popen(
                ["sh", "-c", script],
                cwd=os.environ["HERE"],
                stdout=file,
                stderr=file,
                env=environ,
                start_new_session=True,
            )
        (state / f"{number}.pid").write_text(str(child.pid))
        _write(state, number, "RUNNING")
        child.wait()
        if _read(state, number) != "REQUEUED":
            _write(state, number, "COMPLETED")
            return 0
        _write(state, number, "PENDING")


def squeue(state: Path, _words: list[str]) -> int:
    """Lists the jobs that have not ended."""
    for file in sorted(state.glob("*.state")):
        if (listed := file.read_text()) not in ("COMPLETED", "CANCELLED"):
            print(file.stem, "PENDING" if listed == "REQUEUED" else listed)
    return 0


def scancel(state: Path, words: list[str]) -> int:
    """Removes a job from the queue, or ends it."""
    (number,) = words
    _write(state, number, "CANCELLED")
    with suppress(FileNotFoundError, ProcessLookupError):
        os.killpg(int((state / f"{number}.pid").read_text()), signal.SIGTERM)
    return 0


def scontrol(state: Path, words: list[str]) -> int:
    """scontrol requeue ID: ends a job with SIGTERM, as SLURM does, and puts it back into the queue."""
    number = words[1]
    if (state / f"{number}.requeue").read_text() != "yes":
        print("Requested operation is presently disabled", file=sys.stderr)
        return 1
    _write(state, number, "REQUEUED")
    with suppress(ProcessLookupError):
        os.killpg(int((state / f"{number}.pid").read_text()), signal.SIGTERM)
    return 0


SLURM = (sbatch, squeue, scancel, scontrol)


def _write(state: Path, number: str, word: str) -> None:
    draft = state / f".{number}.{os.getpid()}"
    draft.write_text(word)
    draft.rename(state / f"{number}.state")


def _read(state: Path, number: str) -> str:
    return (state / f"{number}.state").read_text()


if __name__ == "__main__":
    program, folder, *arguments = sys.argv[1:]
    programs = {function.__name__: function for function in (ssh, run, *SLURM)}
    sys.exit(programs[program](Path(folder), arguments))
