"""A studio in the background, for `gymnast train --studio`. It ends by itself when nobody uses it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from gymnast.errors import GymnastError
from gymnast.settings import state_directory
from gymnast.studio.options import StudioOptions
from gymnast.studio.registry import RunningStudio, find_running

IDLE_MINUTES = 30.0
START_SECONDS = 30.0
"""How long a studio may take to start."""
POLL_SECONDS = 0.05


def ensure_running(runs_dir: Path) -> RunningStudio:
    """Returns the studio that serves a runs directory; starts one in the background if there is none. Raises
    GymnastError if it does not start."""
    running = find_running(runs_dir)
    if running is not None:
        return running
    log = state_directory() / "studio.log"
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gymnast.studio.background", str(runs_dir.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C ends the training, not the page about it
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        running = find_running(runs_dir)
        if running is not None:
            return running
        time.sleep(POLL_SECONDS)
    raise GymnastError("the studio did not start", at=str(log), fix="try `gymnast studio`")


def main() -> None:
    """Serves the runs directory that the first argument names, on the next free port."""
    from gymnast.studio.server import serve

    runs_dir = Path(sys.argv[1])
    if find_running(runs_dir) is None:  # another training may have started one in the meantime
        serve(StudioOptions(runs_dir, idle_minutes=IDLE_MINUTES), any_port=True)


if __name__ == "__main__":
    main()
