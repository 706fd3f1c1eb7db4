"""Two machines on this one: network namespaces with a cable between them, each with a node of Ray."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

PORT = 6379
NAMES = ("gymnast-a", "gymnast-b")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
HEALTH = (
    '{"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, '
    '"health_check_timeout_ms": 1000, "health_check_failure_threshold": 3}'
)


def why_not() -> str:
    """Returns why there can be no namespaces here; empty if there can."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need root and the program ip"
    done = subprocess.run(["ip", "netns", "add", "gymnast-try"], capture_output=True, text=True)
    if done.returncode:
        return f"network namespaces cannot be created: {done.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", "gymnast-try"], check=True)
    return ""


class Machines:
    """A cluster of two machines, of which the first has the head. As a context manager, it removes all of
    it at the end."""

    def __init__(self, cpus: tuple[int, int]) -> None:
        """`cpus`: what each machine offers, one for each host."""
        self.cpus = cpus
        self.folder = Path(tempfile.mkdtemp(prefix="gymnast-machines-", dir="/tmp"))
        self.mark = secrets.token_hex(8)
        self.env = os.environ | {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "GYMNAST_MACHINES": self.mark,
        }

    @property
    def address(self) -> str:
        return f"{ADDRESSES[0]}:{PORT}"

    def __enter__(self) -> Machines:
        self._remove_namespaces()
        try:
            for name in NAMES:
                _ip("netns", "add", name)
                _ip("-n", name, "link", "set", "lo", "up")
            ends = ("gymnast-va", "gymnast-vb")
            _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for name, end, address in zip(NAMES, ends, ADDRESSES, strict=True):
                _ip("link", "set", end, "netns", name)
                _ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
                _ip("-n", name, "link", "set", end, "up")
            self._ray(0, "--head", f"--port={PORT}", f"--system-config={HEALTH}")
            self._ray(1, f"--address={self.address}")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for _ in range(20):  # processes may start others before they are killed
            left = [p for p in psutil.process_iter() if self._owns(p)]
            if not left:
                break
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
            time.sleep(0.1)
        self._remove_namespaces()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, machine: int, *words: str) -> list[str]:
        """Returns a command that runs on a machine."""
        return ["ip", "netns", "exec", NAMES[machine], *words]

    def repair(self) -> None:
        """Connects the second machine again, with a new node in place of the old one."""
        for process in self.processes(1):
            with suppress(psutil.Error):
                process.kill()
        _ip("-n", NAMES[1], "link", "set", "gymnast-vb", "up")
        self._ray(1, f"--address={self.address}")

    def cut(self) -> None:
        """Cuts the cable."""
        _ip("-n", NAMES[1], "link", "set", "gymnast-vb", "down")

    def kill_ray(self, machine: int, *programs: str) -> None:
        """Kills programs of Ray, such as raylet, on a machine."""
        for process in self.processes(machine):
            with suppress(psutil.Error):
                if process.name() in programs:
                    process.kill()

    def processes(self, machine: int) -> list[psutil.Process]:
        """Returns all processes on a machine."""
        listed = subprocess.run(
            ["ip", "netns", "pids", NAMES[machine]], capture_output=True, text=True
        )
        found = list[psutil.Process]()
        for pid in map(int, listed.stdout.split()):
            with suppress(psutil.Error):
                found.append(psutil.Process(pid))
        return found

    def _ray(self, machine: int, *words: str) -> None:
        folder = self.folder / str(machine)
        program = str(Path(sys.executable).with_name("ray"))
        more = [f"--node-ip-address={ADDRESSES[machine]}", f"--num-cpus={self.cpus[machine]}"]
        more += ["--object-store-memory=200000000", "--disable-usage-stats"]
        if machine == 0:
            more += [f"--temp-dir={folder}", "--include-dashboard=false"]
        command = self.command(machine, program, "start", *words, *more)
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def _owns(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            if process.environ().get("GYMNAST_MACHINES") == self.mark:
                return process.pid != os.getpid()
            return any(str(self.folder) in word for word in process.cmdline())
        return False

    def _remove_namespaces(self) -> None:
        for name in NAMES:
            if Path("/run/netns", name).exists():
                for pid in subprocess.run(
                    ["ip", "netns", "pids", name], capture_output=True, text=True
                ).stdout.split():
                    with suppress(psutil.Error):
                        psutil.Process(int(pid)).kill()
                subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def _ip(*words: Any) -> None:
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)
