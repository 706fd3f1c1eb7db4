"""Collecting on several hosts: its cost, its speed, and RLlib in the same rounds.

benchmarks/setup                                        # once: RLlib in a virtual environment of its own
python -m benchmarks.distributed                        # about 40 minutes; writes JSON and the page
python -m benchmarks.distributed --only sleeping,peer   # only some parts; the others are kept
python -m benchmarks.distributed --quick                # one short round, nothing written

One core per process is assumed nowhere: the CPU time of all processes is measured, and the machine should be
idle for the parts that compare wall times (two_cores, sleeping, uneven, peer).
"""

from __future__ import annotations

import argparse

from benchmarks import measurement
from benchmarks.distributed.sections import HOSTS, SECTIONS, Options

REPETITIONS, SECONDS = 3, 12.0
QUICK_SECONDS = 4.0


def main() -> None:
    given = _parse()
    chosen = list(SECTIONS) if given.only is None else given.only.split(",")
    if unknown := sorted(set(chosen) - set(SECTIONS)):
        raise SystemExit(f"unknown: {', '.join(unknown)} (known: {', '.join(SECTIONS)})")
    options = Options(
        seconds=QUICK_SECONDS if given.quick else given.seconds,
        repetitions=1 if given.quick else given.repetitions,
        hosts=HOSTS[:2] if given.quick else HOSTS,
        carriers=tuple(given.carriers.split(",")),
    )
    kept = measurement.load_entry("distributed") or {"sections": {}}
    entry = measurement.new_entry("distributed") | {"sections": dict(kept["sections"])}
    for name in chosen:
        print(f"{name}:", flush=True)
        info = {key: entry[key] for key in ("command", "date", "revision", "hardware")}
        entry["sections"][name] = SECTIONS[name](options) | {"measured": info}
    measurement.save_entry("distributed", entry, given.quick)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", default=REPETITIONS, type=int)
    parser.add_argument("--seconds", default=SECONDS, type=float, help="length of a sample")
    parser.add_argument("--only", help=", ".join(SECTIONS))
    parser.add_argument("--carriers", default="local,ray", help="local, ray or both")
    parser.add_argument("--quick", action="store_true", help="one short round, nothing written")
    return parser.parse_args()


if __name__ == "__main__":
    main()
