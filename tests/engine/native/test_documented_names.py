"""Every name in docs/native-engine.md exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/native-engine.md").read_text()
PLAIN = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
NAMES = sorted(set(re.findall(r"`([A-Za-z_][\w./:]*)`", PLAIN)))
SOURCES = (
    "\n".join(
        path.read_text()
        for folder in ("native", "gymnast", "tests/engine/native", "tests/algos", "docs/studies")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".cpp", ".hpp")
    )
    + (ROOT / "CMakeLists.txt").read_text()
)
SAID_TO_BE_ABSENT = {"std::max", "std::vector", "std::function"}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_on_the_page_exists(name: str):
    if "/" in name:
        assert (ROOT / name).exists()
        return
    if name in SAID_TO_BE_ABSENT:
        kernels = ("kernels.cpp", "layers.hpp", "heads.hpp", "gemm.hpp", "simd.hpp", "arena.hpp")
        assert not any(name in (ROOT / "native" / file).read_text() for file in kernels)
        return
    if (ROOT / "gymnast/engine/native" / name).exists():
        return
    for part in re.split(r"[.:]+", name):
        assert re.search(rf"\b{re.escape(part)}\b", SOURCES), part


def test_documented_limits_match_the_code():
    header = (ROOT / "native/network.hpp").read_text()
    plan = (ROOT / "gymnast/engine/native/plan.py").read_text()
    names = ("MAX_LAYERS", "MAX_PIECES", "MAX_CHANNELS", "MAX_RECURRENT")
    sizes = [re.findall(rf"{name} = (\d+)", header)[0] for name in names]
    layers, pieces, channels, recurrent = sizes
    assert f"{', '.join(names)} = {', '.join(sizes)}" in plan
    assert f"{recurrent} recurrent layers" in " ".join(PAGE.split())
    assert f"At most {layers} dense layers" in PAGE
    assert f"{pieces} pieces" in PAGE
    assert f"{channels} channels" in " ".join(PAGE.split())
