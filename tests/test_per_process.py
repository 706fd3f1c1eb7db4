"""An object per process: one for all threads, another one after a fork."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from gymnast.processes.per_process import PerProcess


def test_all_threads_share_one():
    shared = PerProcess(object)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: shared(), range(50)))
    assert all(one is found[0] for one in found)


def test_a_forked_process_gets_its_own():
    shared = PerProcess(os.getpid)
    assert shared() == os.getpid()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"own" if shared() == os.getpid() else b"old")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 3) == b"own"
