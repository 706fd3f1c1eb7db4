"""`gymnast sweep agent` with short pauses between heartbeats, as a program."""

from __future__ import annotations

import sys

from gymnast.cli import main
from gymnast.sweep import wandb_agent

if __name__ == "__main__":
    wandb_agent.HEARTBEAT_SECONDS = 0.1
    sys.argv[1:1] = ["sweep", "agent"]
    main()
