"""The libraries that gymnast is compared with: their tasks and virtual environments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Peer:
    label: str
    module: str
    """Module within `benchmarks.peers`."""
    tasks: str
    """Letters of the tasks."""
    venv: str = ".venv"
    """Its virtual environment, made by `benchmarks/setup`."""
    compiles: bool = False
    """Whether it compiles code before timing starts."""

    @property
    def python(self) -> Path:
        return HERE / self.venv / "bin" / "python"

    def why_missing(self) -> str | None:
        """Returns None if it is installed, else the reason why not."""
        note = HERE / f"{self.venv}.failed"
        if note.exists():
            return note.read_text().strip()
        return None if self.python.exists() else "not installed: run benchmarks/setup"


PEERS = {
    "sb3": Peer("SB3", "sb3", "abcde"),
    "cleanrl": Peer("CleanRL-style", "cleanrl", "abcde"),
    "leanrl": Peer("LeanRL-style", "leanrl", "abce", compiles=True),
    "sbx": Peer("SBX", "sbx", "abce", compiles=True),
    "pufferlib": Peer("PufferLib", "pufferlib", "abf", venv=".venv-pufferlib"),
    "recurrent": Peer("RecurrentPPO of sb3-contrib", "sb3_recurrent", "rs"),
    "samplefactory": Peer("Sample Factory", "sample_factory", "ab", venv=".venv-sample-factory"),
    "rllib": Peer("RLlib", "rllib", "", venv=".venv-rllib"),
}
LABELS = {"ours": "gymnast", "alone": "environment alone"} | {
    name: peer.label for name, peer in PEERS.items()
}
