"""Two hosts are compared before one continues the work of the other."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path

import pytest

from gymnast.config.families import FAMILIES
from gymnast.errors import GymnastError
from gymnast.hosts import (
    MISSING,
    HostFacts,
    common_instructions,
    differences,
    env_packages,
    refuse_differences,
    user_modules,
)
from gymnast.records import from_json, to_json

ONE = HostFacts(
    host="one",
    code="c0ffee",
    revision="12" * 20,
    python="3.11",
    packages={"numpy": "2.4.6", "torch": "2.13.0"},
    modules={"mine": "abc"},
    instructions=("avx", "avx2", "fma"),
)
CHANGED = {
    "code": ("facade", "gymnast"),
    "python": ("3.12", "python"),
    "packages": ({"numpy": "2.3.0", "torch": "2.13.0"}, "numpy"),
    "modules": ({"mine": MISSING}, "mine"),
    "instructions": (("avx",), "cpu"),
}


def test_a_host_does_not_differ_from_itself_and_its_facts_survive_json():
    here = HostFacts.here(env_packages("ALE/Pong-v5"), ["tests.scripted"])
    assert differences(here, HostFacts.here(env_packages("ALE/Pong-v5"), ["tests.scripted"])) == []
    assert from_json(HostFacts, to_json(here)) == here
    assert here.packages["numpy"] == version("numpy")
    assert here.packages["ale-py"] == version("ale-py")


@pytest.mark.parametrize("name", [f.name for f in fields(HostFacts)])
def test_every_fact_except_names_is_compared(name: str):
    if name in ("host", "revision"):
        assert differences(ONE, replace(ONE, **{name: "other"})) == []
        return
    value, what = CHANGED[name]
    (found,) = differences(ONE, replace(ONE, **{name: value}))
    assert (found.what, found.blocks) == (what, what != "cpu")


def test_a_blocking_difference_is_refused_with_all_of_them_and_another_cpu_is_reported():
    other = replace(ONE, host="two", python="3.12", packages={"numpy": "2.3.0"}, instructions=())
    with pytest.raises(GymnastError) as refused:
        refuse_differences(ONE, other)
    assert "two differs from one" in str(refused.value)
    assert "python: 3.11 here, 3.12 there; numpy: 2.4.6 here, 2.3.0 there" in str(refused.value)
    (cpu,) = refuse_differences(ONE, replace(ONE, instructions=("avx",)))
    assert str(cpu) == "cpu: avx avx2 fma here, avx there"


def test_the_common_instruction_sets_are_the_ones_of_every_host():
    others = [replace(ONE, instructions=names) for names in (("fma", "avx"), ("avx", "avx512f"))]
    assert common_instructions([ONE, *others]) == ("avx",)
    assert common_instructions([ONE]) == ONE.instructions


def test_a_module_of_the_user_is_compared_by_its_content_and_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("raise RuntimeError('imported')")
    file = tmp_path / "pack" / "env.py"
    file.write_text("x = 1\n")
    names = user_modules("py:pack.env:Env", None, "CartPole-v1", "py:absent:Env")
    assert names == ["pack.env", "absent"]
    before = HostFacts.here(modules=names).modules
    expected = hashlib.sha256(b"env.py 6\nx = 1\n").hexdigest()[:12]
    assert before == {"pack.env": expected, "absent": MISSING}
    file.write_text("x = 2\n")
    assert HostFacts.here(modules=names).modules["pack.env"] != expected


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.extra], ids=lambda f: f.name)
def test_every_family_with_an_extra_names_the_packages_that_it_installs(family):
    assert env_packages(family.ids[0]), family.extra


def test_the_packages_of_an_extra_of_another_package_are_named_too():
    assert {"gymnasium", "mujoco"} <= {*env_packages("HalfCheetah-v5")}
    assert env_packages("CartPole-v1") == []
