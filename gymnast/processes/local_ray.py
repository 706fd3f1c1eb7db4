"""Ray clusters on this machine that end with the process that started them.

Such a cluster listens on the loopback address only, has a token of its own, and keeps its files in a folder
of its own. The guardian (`guardian.py`) removes what is left of it if its process is killed.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from gymnast.errors import NotInstalled
from gymnast.processes import guard

PREFIX = "gymnast-ray-"
"""Beginning of the name of a cluster's folder in the directory for temporary files; the process follows."""
TOKEN = "RAY_AUTH_TOKEN"
"""Environment variable with the token that every process of a cluster must have."""
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Environment variable with which the processes of a cluster use the loopback address. Without it, Ray on
Linux replaces 127.0.0.1 by the address of the machine and listens on all interfaces. Ray reads it while it is
imported."""
CONNECT_SECONDS = 10.0
"""Time in which the head of a cluster must accept a connection."""
QUIET = {"logging_level": "ERROR", "log_to_driver": False}
"""Options of `ray.init`. What actors print is in Ray's own logs: on the terminal it would mix with Ray's
advice about losses."""


def load_ray() -> Any:
    """Returns the module ray. Raises NotInstalled."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read while it is imported
    if "ray" not in sys.modules:
        # Registered before Ray's own functions, so that it runs after them: they write once more.
        atexit.register(remove_folders)
    try:
        return import_module("ray")
    except ImportError:
        raise NotInstalled("Ray is not installed", fix="pip install 'gymnast[ray]'") from None


def remove_folders() -> None:
    """Removes the files of clusters whose process has ended, or is this one at its end."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid == str(os.getpid()) or (pid.isdigit() and not psutil.pid_exists(int(pid))):
            shutil.rmtree(folder, ignore_errors=True)


def start_cluster(
    ray: Any,
    *,
    cpus: int,
    object_store_bytes: int,
    namespace: str = "",
    health: Mapping[str, int] | None = None,
) -> Path:
    """Starts a cluster, connects this process to it and returns the folder of its files. `health`: Ray's
    settings of health checks. To be called within `guard.watch`, whose guardian ends what Ray starts, should
    this process be killed. Raises what `ray.init` raises; then there is no folder."""
    remove_folders()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    guard.remove_at_end(folder)
    # Unless the user has set one, Ray would write a token into the home directory. It keeps the one that it
    # has read until the process ends.
    if not os.environ.keys() & {TOKEN, f"{TOKEN}_PATH"}:
        os.environ[TOKEN] = secrets.token_hex(32)
    try:
        with _on_loopback():
            ray.init(
                address="local",
                num_cpus=cpus,
                namespace=namespace or None,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                object_store_memory=object_store_bytes,
                _temp_dir=str(folder),
                _system_config=dict(health or {}),
                **QUIET,
            )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Lets a cluster that is started in this block listen on the loopback address only."""
    constants: Any = import_module("ray._private.ray_constants")
    was_allowed = constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False  # Ray may have been imported long ago
    os.environ.update(LOOPBACK)
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = was_allowed
        for variable in LOOPBACK:
            del os.environ[variable]


def require_reachable(address: str, seconds: float = CONNECT_SECONDS) -> None:
    """Raises OSError if nobody listens at an address HOST:PORT: Ray itself would try for many minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "//" not in address:
        socket.create_connection((host.strip("[]"), int(port)), seconds).close()


def require_head(ray: Any) -> None:
    """Raises OSError if the head of the cluster that this process is connected to does not listen. Ray itself
    would end this process a minute later, without a chance to finish anything."""
    require_reachable(ray.get_runtime_context().gcs_address, seconds=1.0)
