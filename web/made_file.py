"""Files of the front end that are made from Python: written, or compared with what they should be."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(file: Path, text: str, script: str) -> int:
    """Writes `text` to a file or, with the argument `--check`, only reports whether it has this text. Returns
    the exit code. `script`: path of the program that makes the file, from the root of the repository."""
    if "--check" not in sys.argv:
        file.write_text(text)
        return 0
    if file.read_text() == text:
        return 0
    print(f"{file} is not current; fix: python {script}", file=sys.stderr)
    return 1
