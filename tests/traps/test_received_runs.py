"""Traps 59 and 60: a run is data. Whatever reads a run of somebody else imports nothing that it names and
follows no link out of it; whatever would have to import its code refuses it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from gymnast import api
from gymnast.api import OPERATIONS
from gymnast.cli import cli
from gymnast.errors import CodeNotAllowed, GymnastError, RunError
from gymnast.import_object import ALLOW_VARIABLE, PERMITTED_VARIABLE, import_user_code, permit_code
from gymnast.mcp.options import McpOptions
from gymnast.mcp.tools import TOOLS
from gymnast.runs import layout, store
from gymnast.runs.run import Run
from gymnast.serving.calls import call as serve_call
from gymnast.serving.references import RUN_ARGUMENTS, TARGET_ARGUMENTS
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from gymnast.tasks import Task
from tests.mcp.sessions import call as call_tool
from tests.small_runs import train_small

SECRET = "the-content-of-a-file-outside"
PLACES: dict[str, dict[str, Any]] = {
    "algorithm": {"algo.name": "py:NAME:Algo"},
    "environment": {"env.id": "py:NAME:Env"},
    "registered environment": {"env.id": "NAME:Env-v0"},
    "network": {"policy.module": "NAME:Net"},
    "shaping": {"shaping.evil": {"path": "py:NAME:term"}},
    "preset": {},
}
PLACES["everywhere"] = {key: value for place in PLACES.values() for key, value in place.items()}
"""Place where a run can name code -> dotted config key -> value; `preset` is named in run.json."""
UNSAFE = (
    "studio",
    "mcp",
    "nightly",
    "wait",
    "sweep",
    "tune",
    "reproduce",
    "init",
    "host",
    "check",
    "docs",
)
"""Commands that do not take a run, wait for something, or start a server."""


@dataclass(frozen=True)
class Received:
    """A working directory with a received run that names code in one place, and a module of the same name."""

    folder: Path
    run: Run

    @property
    def marks(self) -> list[Path]:
        return [*self.folder.glob("imported-*")]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs = tmp_path_factory.mktemp("sender") / "runs"
    return train_small("CartPole-v1", {"stop.env_steps": 512}, runs_dir=runs, seed=0)


def copied(run: Run, folder: Path, place: str, module: str) -> Run:
    """Returns a copy of a run below `folder`, which names code of a module in this place."""
    copy = Run(folder / "runs" / "evil0001")
    shutil.copytree(run.path, copy.path)
    values: Any = copy.config_values()
    for key, value in PLACES[place].items():
        *sections, field = key.split(".")
        branch = values
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[field] = json.loads(json.dumps(value).replace("NAME", module))
    with layout.CONFIG.path(copy.path).open("w") as file:
        YAML(typ="safe", pure=True).dump(values, file)
    info = json.loads(layout.RUN.path(copy.path).read_text()) | {"id": copy.id, "name": ""}
    if place in ("preset", "everywhere"):
        info["preset"] = f"CartPole-v1:py:{module}:Algo"
    layout.RUN.path(copy.path).write_text(json.dumps(info))
    return copy


WALKED = [("everywhere", True), ("algorithm", False), ("network", False), ("preset", True)]
"""The places with which everything is tried; whether the code is inside of the run."""


@pytest.fixture(params=WALKED, ids=lambda p: f"{p[0]}-{'in the run' if p[1] else 'in the folder'}")
def received(
    small_run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Received]:
    place, inside = cast("tuple[str, bool]", request.param)
    for variable in (ALLOW_VARIABLE, PERMITTED_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    name = "runs.evil0001.payload" if inside else "payload"
    run = copied(small_run, tmp_path, place, name)
    payload = (run.path if inside else tmp_path) / "payload.py"
    payload.write_text(f"open({str(tmp_path / 'imported-')!r} + __name__, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(store.RUNS_DIR_VAR, str(tmp_path / "runs"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield Received(tmp_path, run)
    assert not Received(tmp_path, run).marks


def arguments(properties: dict[str, Any], run: str, name: str) -> dict[str, Any]:
    """Returns arguments that name the run wherever an operation takes one."""
    given: dict[str, Any] = {}
    for argument in properties:
        if argument in (*RUN_ARGUMENTS, *TARGET_ARGUMENTS) and argument not in (
            "roles",
            "at",
            "algo",
        ):
            given[argument] = [run] if argument in ("refs", "targets") else run
        elif argument == "name" and name == "config_show":
            given[argument] = run
    return given


def filler(schema: dict[str, Any]) -> object:
    """Returns a value of the type that an argument has."""
    kinds = {"integer": 0, "number": 0.0, "array": [], "object": {}, "boolean": False}
    return kinds.get(schema.get("type", "string"), "0")


def test_no_operation_imports_code_of_a_received_run(received: Received):
    skipped = {"stop", "wait", "nightly", "host_check", "prune", "remove"}
    for name, operation in OPERATIONS.items():
        if name in skipped:
            continue
        properties = cast("dict[str, Any]", operation.arguments_schema()["properties"])
        given = arguments(properties, received.run.id, name)
        if not given:
            continue
        for argument in cast("list[str]", operation.arguments_schema().get("required", [])):
            given.setdefault(argument, filler(properties[argument]))
        if "out" in properties:
            given["out"] = str(received.folder / "out")
        try:
            result = operation.function(**given)
            if isinstance(result, Task):
                result.cancel() if name == "check" else result.outcome()
        except (
            GymnastError,
            TypeError,
        ):  # refused, or an argument that only the command line fills in
            pass
        assert not received.marks, name


@pytest.mark.parametrize("read_only", [False, True])
def test_no_request_imports_code_of_a_received_run(received: Received, read_only: bool):
    options = StudioOptions(received.folder / "runs", read_only=read_only)
    for name, operation in exposed().items():
        given = arguments(operation.arguments, received.run.id, name)
        if given and name not in ("stop", "remove", "prune", "wait"):
            result = serve_call(operation, given, options)
            if isinstance(result, Task):
                result.outcome()
            assert not received.marks, name


def test_no_tool_for_assistants_imports_code_of_a_received_run(received: Received):
    options = McpOptions(received.folder / "runs")
    for name, tool in TOOLS.items():
        given: dict[str, Any] = {"control": {"action": "pause"}}.get(name, {})
        for parameter in tool.parameters:
            if parameter.name in ("run", "runs", "resume", "source", "target", "against"):
                given[parameter.name] = [received.run.id] if parameter.is_list else received.run.id
        if name != "wait":
            call_tool(options, name, given)  # an answer or a refusal
        assert not received.marks, name


def commands() -> Iterator[tuple[str, ...]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if name in UNSAFE or command is None:
            continue
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.commands if inner not in ("rm", "prune"))
            continue
        yield (name,)


@pytest.mark.slow
def test_no_command_imports_code_of_a_received_run(received: Received):
    runner = CliRunner()
    for words in commands():
        result = runner.invoke(cli, [*words, received.run.id])
        assert not received.marks, words
        error = result.exception
        assert error is None or isinstance(
            error, (GymnastError, click.ClickException, SystemExit)
        ), (
            words,
            error,
        )


@pytest.mark.parametrize("place", [place for place in PLACES if place != "preset"])
def test_running_a_received_run_says_how_to_allow_its_code(
    small_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
):
    monkeypatch.delenv(ALLOW_VARIABLE, raising=False)
    run = copied(small_run, tmp_path, place, "payload")
    with pytest.raises(CodeNotAllowed, match="not trained by you here") as error:
        run.trusted_config()
    assert "--allow-code" in error.value.fix


def test_a_run_that_the_user_trained_with_own_code_is_trusted_and_an_edited_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    run = train_small("Script", {"stop.env_steps": 64}, runs_dir=tmp_path / "runs")
    monkeypatch.delenv(PERMITTED_VARIABLE)
    assert run.trusted_config().env.id == "py:tests.scripted:Script"
    text = run.config_text()
    layout.CONFIG.path(run.path).write_text(text.replace("py:tests.scripted:", "py:tests.other:"))
    with pytest.raises(CodeNotAllowed):
        run.trusted_config()
    layout.CONFIG.path(run.path).write_text(text)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    with pytest.raises(CodeNotAllowed):
        run.trusted_config()
    monkeypatch.setenv(ALLOW_VARIABLE, "1")  # --allow-code: trusted from now on
    run.trusted_config()
    monkeypatch.delenv(ALLOW_VARIABLE)
    run.trusted_config()


def test_code_inside_of_a_run_is_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "runs" / "abc"
    package.mkdir(parents=True)
    (package / "run.json").write_text("{}")
    (package / "inside.py").write_text("value = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.setenv(PERMITTED_VARIABLE, "")
    permit_code(["inside:value", "runs.abc.inside:value"])
    for path in ("inside:value", "runs.abc.inside:value"):
        with pytest.raises(CodeNotAllowed, match="inside of a run"):
            import_user_code(path)


LINKED = ["log.txt", "events.jsonl", "config.yaml", "run.json", "metrics.db", "provenance.json",
          "checkpoints", "traces"]  # fmt: skip


@pytest.mark.parametrize("name", LINKED)
def test_no_operation_reads_through_a_link_in_a_run(
    small_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    outside = tmp_path / "outside"
    outside.mkdir()
    run = Run(tmp_path / "runs" / "linked01")
    shutil.copytree(small_run.path, run.path)
    target = outside / name
    original = run.path / name
    shutil.move(original, target)
    if target.is_file() and name not in ("metrics.db", "run.json"):
        target.write_text(f"{SECRET}\n")
    original.symlink_to(target)
    monkeypatch.setenv(store.RUNS_DIR_VAR, str(tmp_path / "runs"))
    for operation, given in (
        ("logs", {}), ("show", {}), ("events", {}), ("run_file", {"file": name}),
        ("rows", {}), ("doctor", {}), ("bundle", {"out": str(tmp_path / "b.zip")}),
        ("episodes", {}),
    ):  # fmt: skip
        try:
            result: object = OPERATIONS[operation].function(run.id, **given)
            result = result.outcome() if isinstance(result, Task) else result
        except (GymnastError, TypeError) as error:
            result = error
        assert SECRET not in repr(result), operation
    if (tmp_path / "b.zip").exists():
        with zipfile.ZipFile(tmp_path / "b.zip") as archive:
            assert not any(SECRET.encode() in archive.read(member) for member in archive.namelist())
    with pytest.raises(RunError, match="is a link"):
        next(file for file in layout.FILES if file.name.rstrip("/") == name).path(run.path)


def test_a_file_of_a_checkpoint_that_is_a_link_is_not_read(small_run: Run, tmp_path: Path):
    from gymnast.runs import checkpoint

    run = Run(tmp_path / "runs" / "linked01")
    shutil.copytree(small_run.path, run.path)
    folder = max(run.checkpoints.iterdir())
    shutil.move(folder / "state.json", tmp_path / "state.json")
    (folder / "state.json").symlink_to(tmp_path / "state.json")
    with pytest.raises(RunError, match="is a link"):
        checkpoint.read(folder)


def large_bundle(run: Run, file: Path, size: int) -> None:
    """Writes a bundle whose log has `size` bytes, all of them zero."""
    api.bundle(run.id, out=str(file), runs_dir=run.path.parent)
    with zipfile.ZipFile(file) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest_name = next(
        name for name in files if name.count("/") == 1 and name.endswith("/manifest.json")
    )
    folder = manifest_name.partition("/")[0]
    manifest = json.loads(files[manifest_name])
    digest, block = hashlib.sha256(), bytes(1 << 20)
    for _ in range(size // len(block)):
        digest.update(block)
    for entry in manifest["files"]:
        if entry["name"] == layout.LOG.name:
            entry |= {"size": size, "sha256": digest.hexdigest()}
    files[manifest_name] = json.dumps(manifest).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            if name != f"{folder}/{layout.LOG.name}":
                archive.writestr(name, content)
        with archive.open(f"{folder}/{layout.LOG.name}", "w") as log:
            for _ in range(size // len(block)):
                log.write(block)


@pytest.mark.parametrize("megabytes", [200, 900])
def test_a_small_bundle_with_a_huge_log_takes_little_memory(
    small_run: Run, tmp_path: Path, megabytes: int
):
    bundle = tmp_path / "huge.zip"
    large_bundle(small_run, bundle, megabytes << 20)
    assert bundle.stat().st_size < 3 << 20
    code = (
        "import resource, sys\nfrom gymnast import api\n"
        "from gymnast.errors import RunError\n"
        "try: api.logs(sys.argv[1], last=5)\n"
        "except RunError as error: print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bundle)], capture_output=True, text=True, check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    *refused, peak = done.stdout.splitlines()
    assert int(peak) < 300_000  # kB
    assert bool(refused) == (megabytes == 900)
