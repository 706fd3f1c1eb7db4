"""Runs every command that the docs show, with small budgets."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast.jobs.status import live_jobs
from tests.remote import stand_ins

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SMALL = (
    "--set eval.episodes=2 --set eval.confirm_episodes=2 --set env.n_envs=2 --set algo.n_steps=64"
)
SHORT, SHORT_MATCHES = "--set eval.max_episode_steps=50", "--set env.kwargs.time_limit=50"


def documented(page: Path) -> list[str]:
    """Returns the `gymnast ...` lines of a page's shell blocks, in order, without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(), re.S)
    lines = [line.split(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("gymnast ")]


def write_files(page: Path, place: Path) -> None:
    """Writes the files that a page shows completely, each after a first line `# path/of/file`."""
    shown = re.findall(
        r"```(?:python|yaml|csv|json)\n# (\S+\.(?:py|yaml|csv|jsonl))\n(.*?)```",
        page.read_text(),
        re.S,
    )
    for name, text in shown:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def affordable(command: str) -> str:
    """Returns the command, with a small budget if it trains."""
    verb = command.split()[1]
    if verb in ("train", "resume"):
        command = re.sub(r"--env-steps \S+", "", command)
        command = command.replace("--at 20k", "--at 512")
        total = "1024" if verb == "train" else "2048"
        if "--detach" in command:  # the following commands need it to be training
            total = "50M --set stop.solved=off"
        command += f" --quiet --env-steps {total}"
        env = command.split()[2]
        short = SHORT_MATCHES if env.startswith("tag") else SHORT
        short = "" if env.startswith("pettingzoo/py:") else short  # it takes no limit
        command += f" {SMALL} {short}" if verb == "train" else ""
        command = re.sub(r"collect\.hosts=\d+", "collect.hosts=2", command)  # of two copies
        if verb == "train" and not re.search(r":(a2c|dqn|reinforce)\b|--algo", command):
            command += " --set algo.batch_size=25%"
    if command.startswith("gymnast sweep start"):
        command += " --trials 4 --seeds 1 --confirm-seeds 0 --sampler random"
        command = f"sed -i s/20k/1k/ space.yaml && {command}"
    if command.startswith("gymnast sweep resume"):
        command = command.replace("--trials 12", "--trials 6")
    if command.startswith("gymnast tune preset"):
        return f"{command} --dry-run"
    if command.startswith("gymnast tune envs"):
        command += " --backends inprocess --copies 2 --seconds 0.1"
    if command.startswith("gymnast tune scale"):
        command += " --seconds 0.1 --set env.n_envs=2 --set algo.n_steps=32"
    if verb == "audit":
        command += " --episodes 6"
    if verb == "mcp" and "--http" not in command:  # serves until its input ends
        command += " < /dev/null"
    if verb == "studio" or "--http" in command:  # serves until Ctrl-C
        command = f"timeout --preserve-status --signal=INT 8 {command}"
    if verb == "inspect" and not re.search(r"--(text|csv|json)\b", command):
        command += " --text"  # otherwise it starts a studio, which stays
    if verb == "nightly":  # takes an hour
        words = [w for w in command.split() if w not in ("check", "reproduce", "benchmarks")]
        command = f"{' '.join(words)} config --minutes 1"
    if verb == "check":
        command += " --steps 200" + (" CartPole-v1:ppo" if command.endswith("--all") else "")
    return command


@pytest.fixture(autouse=True)
def end_jobs(tmp_path: Path) -> Iterator[None]:
    yield
    for job in live_jobs(tmp_path / "runs"):
        if job.pid is not None:  # it has started
            os.kill(job.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if documented(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_documented_command_runs(page: Path, tmp_path: Path):
    environment = {**os.environ, "GYMNAST_RUNS": str(tmp_path / "runs")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    write_files(page, tmp_path)
    if page.name == "remote-jobs.md":  # other hosts are stand-ins on this machine
        for program in ("ssh", "sbatch", "squeue", "scancel", "scontrol"):
            state = tmp_path / ("ssh" if program == "ssh" else "slurm")
            stand_ins.install(program, tmp_path / "bin", state)
        environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{environment['PATH']}"
    if (tmp_path / "settings.yaml").exists():  # a page about commands of the user
        environment |= {"GYMNAST_SETTINGS": str(tmp_path / "settings.yaml"), "HOME": str(tmp_path)}
    if page.name == "foreign-runs.md":
        shutil.copytree(ROOT / "tests" / "fixtures" / "foreign", tmp_path / "logs")
    for command in documented(page):
        if command.startswith("gymnast reproduce"):
            continue  # takes as long as the original result; tests/learning covers it
        done = subprocess.run(
            affordable(command),
            shell=True,
            executable="/bin/bash",
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert not live_jobs(tmp_path / "runs"), "a page must stop the jobs that it starts"


def test_the_python_example_runs(tmp_path: Path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    code = code.replace("seed=0)", "seed=0, quiet=True, overrides={'stop.env_steps': 1024})")
    environment = {**os.environ, "GYMNAST_RUNS": str(tmp_path / "runs")}
    done = subprocess.run(
        [sys.executable, "-c", code.replace("episodes=100", "episodes=2")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_examples_of_the_python_api_run_in_order(tmp_path: Path):
    text = (ROOT / "docs" / "python-api.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    script = tmp_path / "examples.py"
    script.write_text(f"{code}\nassert answer.value[0].status == 'finished'\n")
    environment = {**os.environ, "GYMNAST_RUNS": str(tmp_path / "runs")}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not live_jobs(tmp_path / "runs"), "a page must stop the jobs that it starts"
