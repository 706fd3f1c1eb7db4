"""Traps 59 and 60: a run is data. Whatever reads a run of somebody else imports nothing that it names and
follows no link out of it; whatever would have to import its code refuses it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner
from mcp import Client
from ruamel.yaml import YAML
from starlette.testclient import TestClient

from gymnast import api
from gymnast.api import OPERATIONS, READS
from gymnast.cli import cli
from gymnast.data_dir import DATA_DIR_VAR
from gymnast.errors import CodeNotAllowed, GymnastError, RunError
from gymnast.import_object import (
    ALLOW_VARIABLE,
    PERMITTED_VARIABLE,
    import_user_code,
    is_permitted,
    permit_code,
)
from gymnast.jobs import record
from gymnast.jobs.detach import job_request
from gymnast.mcp.options import McpOptions
from gymnast.mcp.tools import TOOLS
from gymnast.runs import layout, store
from gymnast.runs.run import Run
from gymnast.serving.calls import call as serve_call
from gymnast.studio.app import create_app
from gymnast.studio.operations import exposed
from gymnast.studio.options import StudioOptions
from gymnast.studio.pages import PAGES
from gymnast.sweep import study as studies
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.study import make_plan
from gymnast.tasks import Task
from gymnast.training.request import TrainRequest
from tests.mcp.sessions import call as call_tool
from tests.mcp.sessions import in_memory
from tests.small_runs import train_small

SECRET = "the-content-of-a-file-outside"
PLACES: dict[str, dict[str, Any]] = {
    "algorithm": {"algo.name": "py:NAME:Algo"},
    "environment": {"env.id": "py:NAME:Env"},
    "registered environment": {"env.id": "NAME:Env-v0"},
    "parallel environment": {"env.id": "pettingzoo/py:NAME"},
    "network": {"policy.module": "NAME:Net"},
    "Ray cluster": {"collect.address": "NAME:6379"},
    "shaping": {"shaping.evil": {"term": "py:NAME:term"}},
    "metric": {"metrics.evil": {"source": "py:NAME:metric", "description": "py:NAME:metric"}},
    "preset": {},
}
PLACES["everywhere"] = {key: value for place in PLACES.values() for key, value in place.items()}
"""Place where a run can name code -> dotted config key -> value; `preset` is named in run.json."""
WITHOUT_RUN = ("nightly", "host_check")
"""Operations that take no run, and take very long."""
LAST = ("remove", "prune", "sweep_remove")
"""Operations that delete runs or studies."""
WAITING = ("studio", "mcp", "nightly", "host")
"""Commands that start a server, or work for hours without a run."""
MODES = [(False, False), (True, False), (False, True), (True, True)]
"""Modes of a server: read_only, allow_code."""
MODULES = ("payload", "runs.RUN.payload")
"""Modules that a run can name: next to the runs directory, and in the run."""


@dataclass(frozen=True)
class Received:
    """A working directory with received runs that name code, and modules of these names everywhere."""

    folder: Path
    runs: dict[str, Run]
    """Place in which it names code -> run."""
    study: str

    @property
    def everywhere(self) -> Run:
        return self.runs["everywhere"]

    def check(self, where: object) -> None:
        """Fails if code was imported, or if something outside of the runs was written."""
        assert not [*self.folder.glob("imported-*")], where
        known = {"runs", "data", "state", "out", "payload.py", "presets"}
        # Commands write what the user asks for into the working directory, named after the run or study.
        found = {
            path.name
            for path in self.folder.iterdir()
            if not path.name.startswith(("evil", "stolen"))
        }
        assert not found - known, where


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs = tmp_path_factory.mktemp("sender") / "runs"
    return train_small("CartPole-v1", {"stop.env_steps": 512}, runs_dir=runs, seed=0)


def copied(run: Run, folder: Path, place: str, module: str, id: str = "evil0001") -> Run:
    """Returns a copy of a run below `folder`, which names code of a module in this place."""
    copy = Run(folder / "runs" / id)
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


@pytest.fixture(scope="module", params=MODULES)
def copies(
    small_run: Run, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Received:
    folder = tmp_path_factory.mktemp("received")
    runs: dict[str, Run] = {}
    for number, place in enumerate(PLACES):
        id = f"evil{number:04d}"
        runs[place] = copied(small_run, folder, place, request.param.replace("RUN", id), id)
    for place in (folder, folder / "runs", *(run.path for run in runs.values())):
        mark = f"open({str(folder / 'imported-')!r} + __name__, 'w').close()\n"
        (place / "payload.py").write_text(mark)
    (folder / "out").mkdir()
    return Received(folder, runs, stolen_study(folder, request.param.replace("RUN", "evil0000")))


@pytest.fixture
def received(copies: Received, monkeypatch: pytest.MonkeyPatch) -> Received:
    for variable in (ALLOW_VARIABLE, PERMITTED_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(copies.folder)
    monkeypatch.setenv(store.RUNS_DIR_VAR, str(copies.folder / "runs"))
    monkeypatch.setenv("XDG_STATE_HOME", str(copies.folder / "state"))
    monkeypatch.delenv(DATA_DIR_VAR, raising=False)
    return copies


def stolen_study(folder: Path, module: str) -> str:
    """Writes a study that was copied from elsewhere, whose target names code; returns its name."""
    text = "target: CartPole-v1\nparameters:\n  algo.lr: {choices: [1e-3, 1e-4]}\n"
    space = parse_space(text, "space.yaml").space
    plan = make_plan(space, SearchOptions(), Objective("score"), 1000)
    study = studies.create("stolen", space, plan, runs_dir=folder / "runs")
    (study.path / "space.yaml").write_text(
        text.replace("CartPole-v1", f"CartPole-v1:py:{module}:Algo")
    )
    return study.name


def arguments(name: str, properties: Iterable[str], received: Received, run: str) -> dict[str, Any]:
    """Returns arguments that name the run or study wherever an operation takes one."""
    given: dict[str, Any] = {"version": 512, "number": 0, "step": 0, "kind": "eval", "action": "0"}
    given |= {"out": str(received.folder / "out" / name), "study": received.study}
    given = {argument: value for argument, value in given.items() if argument in properties}
    for argument in properties:
        if argument in ("refs", "targets"):
            given[argument] = [run, received.runs["metric"].id]
        elif argument in ("ref", "run", "source", "target", "a", "b"):
            given[argument] = run
    if name == "attribution":
        given.pop("target")
    if name == "config_show":
        given["name"] = run
    if name == "prompt":
        given |= {"name": "debug", "refs": [run]}
    return given


def call_operation(name: str, received: Received, run: str) -> object:
    """Calls an operation with a run wherever it takes one, and with some value for whatever else it needs;
    returns its result or its refusal."""
    operation = OPERATIONS[name]
    schema = operation.arguments_schema()
    properties = cast("dict[str, Any]", schema["properties"])
    given = arguments(name, properties, received, run)
    kinds = {"integer": 0, "number": 0.0, "array": [], "object": {}, "boolean": False}
    for argument in cast("list[str]", schema.get("required", [])):
        given.setdefault(argument, kinds.get(properties[argument].get("type", "string"), "0"))
    try:
        result = operation.function(**given)
        return result.outcome() if isinstance(result, Task) else result
    except (GymnastError, TypeError) as error:
        return error  # refused, or an argument that only the command line fills in
    finally:
        received.check(name)


WALKED = [name for name in OPERATIONS if name not in (*WITHOUT_RUN, *LAST)]
STARTING = [name for name in WALKED if OPERATIONS[name].effect != READS or name == "dry_run"]
"""Operations that start a process, which takes long."""
READING = [name for name in WALKED if name not in STARTING]


READ_ANYWAY = ("show", "config_show", "config_diff", "compare", "doctor", "trends", "charts", "episodes",
               "review_runs", "prompt", "bundle_contents", "rows", "monitor", "sweep_status")  # fmt: skip
"""Operations that read a run with user-defined parts like any other."""


def test_no_operation_imports_code_of_a_received_run(received: Received):
    for name in READING:
        loads_config = name in READ_ANYWAY
        for place, run in received.runs.items() if loads_config else [("", received.everywhere)]:
            result = call_operation(name, received, run.id)
            if loads_config and place in ("algorithm", "environment", "network", "preset"):
                assert not isinstance(result, Exception), (name, place, result)


@pytest.mark.slow
@pytest.mark.parametrize("copies", ["payload"], indirect=True)
def test_no_operation_with_a_process_imports_code_of_a_received_run(received: Received):
    for name in STARTING:
        call_operation(name, received, received.everywhere.id)


@pytest.mark.slow
@pytest.mark.parametrize("copies", ["payload"], indirect=True)
def test_no_operation_imports_code_of_a_bundle(received: Received):
    bundle = received.folder / "out" / "evil.zip"
    api.bundle(received.everywhere.id, out=str(bundle))
    for name in READING:
        call_operation(name, received, str(bundle))


@pytest.mark.slow
@pytest.mark.parametrize("copies", ["runs.RUN.payload"], indirect=True)
@pytest.mark.parametrize(("read_only", "allow_code"), MODES)
def test_no_request_imports_code_of_a_received_run(
    received: Received, read_only: bool, allow_code: bool, monkeypatch: pytest.MonkeyPatch
):
    """Code in a runs directory is not imported, even with --allow-code."""
    if allow_code:
        monkeypatch.setenv(ALLOW_VARIABLE, "1")
    options = StudioOptions(received.folder / "runs", read_only=read_only, allow_code=allow_code)
    for name, operation in exposed().items():
        given = arguments(name, operation.arguments, received, received.everywhere.id)
        given = {
            key: value for key, value in given.items() if key not in ("out", "version", "step")
        }
        if given and name not in LAST:
            result = serve_call(operation, given, options)
            if isinstance(result, Task):
                result.outcome()
            received.check(name)


@pytest.mark.parametrize(("read_only", "allow_code"), MODES)
def test_no_page_imports_code_of_a_received_run(
    received: Received, read_only: bool, allow_code: bool
):
    options = StudioOptions(received.folder / "runs", read_only=read_only, allow_code=allow_code)
    app = create_app(options)
    client = TestClient(app, base_url=f"http://127.0.0.1:{options.port}")
    client.headers["cookie"] = f"{app.state.sessions.cookie}={app.state.sessions.issue()}"
    for place, run in received.runs.items():
        for page in PAGES:
            path = page.path.replace(
                "{run}", received.study if page.argument == "study" else run.id
            )
            for query in ({"format": "json"}, {"format": "json", "runs": run.id}, {}):
                answer = client.get(f"/{path}", params=query)
                assert answer.status_code < 500, (path, answer.text)
                if page.path == "run/{run}" or page.operation in ("doctor", "config_show"):
                    assert answer.status_code == 200, (path, answer.text)
        received.check(place)


@pytest.mark.parametrize(("read_only", "allow_code"), MODES)
def test_no_tool_for_assistants_imports_code_of_a_received_run(
    received: Received, read_only: bool, allow_code: bool
):
    options = McpOptions(received.folder / "runs", read_only=read_only, allow_code=allow_code)
    for name, tool in TOOLS.items():
        given: dict[str, Any] = {"control": {"action": "pause"}}.get(name, {})
        for parameter in tool.parameters:
            if parameter.name in ("run", "runs", "resume", "source", "target", "against"):
                run = received.everywhere.id
                both = [run, received.runs["metric"].id]
                given[parameter.name] = both if parameter.is_list else run
        if name != "wait":
            call_tool(options, name, given)  # an answer or a refusal
        received.check(name)


async def read_everything(client: Client, run: str) -> list[str]:
    """Returns the resources about a run and the prompts that mention it, or why there is none."""
    asked = [
        client.read_resource(template.uri_template.replace("{run}", run))
        for template in (await client.list_resource_templates()).resource_templates
    ]
    asked += [
        client.get_prompt(prompt.name, {each.name: run for each in prompt.arguments or []})
        for prompt in (await client.list_prompts()).prompts
    ]
    return [repr(one) for one in await asyncio.gather(*asked, return_exceptions=True)]


def test_no_resource_or_prompt_for_assistants_imports_code_of_a_received_run(received: Received):
    for run in received.runs.values():
        options = McpOptions(received.folder / "runs")
        found = in_memory(options, lambda client, run=run: read_everything(client, run.id))
        assert "env_steps" in "".join(found)
        received.check(run.id)


def commands() -> Iterator[tuple[str, ...]]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        if name in WAITING or command is None:
            continue
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.commands if inner not in ("rm", "prune"))
            continue
        yield (name,)


@pytest.mark.slow
@pytest.mark.parametrize("copies", ["payload"], indirect=True)
def test_no_command_imports_code_of_a_received_run(received: Received):
    runner = CliRunner()
    for words in commands():
        name = received.study if words[0] == "sweep" else received.everywhere.id
        result = runner.invoke(cli, [*words, name])
        received.check(words)
        error = result.exception
        user_errors = (GymnastError, click.ClickException, SystemExit)
        assert error is None or isinstance(error, user_errors), (words, error)
        if "--allow-code" in f"{error}":
            assert "--allow-code" in runner.invoke(cli, [*words, "--help"]).output, words


def test_a_study_that_was_started_elsewhere_is_not_resumed(received: Received):
    study = studies.find(received.study, received.folder / "runs")
    layout.SIGNATURES.path(study.path).unlink(missing_ok=True)  # that of a server with --allow-code
    with pytest.raises(CodeNotAllowed, match="the study stolen names code"):
        api.sweep_resume(received.study)


@pytest.mark.parametrize("name", ["log.txt", "journal.jsonl"])
def test_no_file_of_a_study_is_read_through_a_link(tmp_path: Path, name: str):
    study = stolen_study(tmp_path, "payload")
    folder = tmp_path / "data" / "sweeps" / study
    (tmp_path / "outside.txt").write_text(f"error: {SECRET}\n")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "outside.txt")
    try:
        found = repr(api.sweep_status(study, runs_dir=tmp_path / "runs"))
    except RunError as error:
        found = str(error)
    assert SECRET not in found
    assert name == "log.txt" or "is a link" in found


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


def test_a_file_whose_name_has_a_comma_is_permitted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(PERMITTED_VARIABLE, "")
    permit_code(["models/ant,small.xml", "my_env"])
    assert is_permitted("models/ant,small.xml")
    assert is_permitted("my_env")
    assert not is_permitted("small.xml")


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
        with pytest.raises(CodeNotAllowed, match="inside of a runs directory"):
            import_user_code(path)


def test_a_name_with_two_modules_imports_neither_unless_both_are_permitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "evil.py").write_text("raise AssertionError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv(ALLOW_VARIABLE, raising=False)
    monkeypatch.setenv(PERMITTED_VARIABLE, "")
    permit_code(["py:tests.scripted:Script"])
    with pytest.raises(CodeNotAllowed):
        import_user_code("evil:py:tests.scripted:Script")


def test_a_job_that_somebody_else_submitted_is_not_continued(small_run: Run, tmp_path: Path):
    """Its record names the command that continues it."""
    run = Run(tmp_path / "runs" / "stolen01")
    shutil.copytree(small_run.path, run.path)
    run.update(status="stopped", reason_kind="interrupted")
    job: record.JobRequest = {
        **job_request(TrainRequest("CartPole-v1"), target="CartPole-v1", seed=0, attempts=0),
        "remote": {
            "on": f"touch {tmp_path / 'imported-by-its-command'} {{command}}",
            "store": "shared", "runs": str(run.path.parent), "cwd": str(tmp_path),
            "facts": {}, "requeue": True, "max_jobs": 0,
        },
    }  # fmt: skip
    record.write(record.jobs_dir(run.path.parent), run.id, job, state="gone", checked=1e11)
    api.wait([run.id], runs_dir=run.path.parent, timeout=1)
    assert not [*tmp_path.glob("imported-*")]


def test_modules_in_a_runs_directory_do_not_replace_those_of_the_program(
    small_run: Run, tmp_path: Path
):
    shutil.copytree(small_run.path, tmp_path / "stolen01")
    for module in ("click", "yaml", "numpy", "json"):
        (tmp_path / f"{module}.py").write_text("raise AssertionError\n")
    command = [sys.executable, "-m", "gymnast", "show", "stolen01", "--runs", "."]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)


@pytest.mark.parametrize("name", ["report.md", "report.html", "returns.png"])
def test_a_report_is_not_written_through_a_link_in_a_run(small_run: Run, tmp_path: Path, name: str):
    outside = tmp_path / "outside.txt"
    outside.write_text(SECRET)
    run = Run(tmp_path / "runs" / "linked01")
    shutil.copytree(small_run.path, run.path)
    layout.REPORT.path(run.path).mkdir()
    for file in ("report.md", name):  # pictures are replaced only next to a report
        (layout.REPORT.path(run.path) / file).unlink(missing_ok=True)
        (layout.REPORT.path(run.path) / file).touch()
    (layout.REPORT.path(run.path) / name).unlink()
    (layout.REPORT.path(run.path) / name).symlink_to(outside)
    with suppress(RunError):  # not every report has this picture
        api.report(run.id, runs_dir=run.path.parent)
    assert outside.read_text() == SECRET


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
        "import re, sys\nfrom gymnast import api\n"
        "from gymnast.errors import RunError\n"
        "try: api.logs(sys.argv[1], last=5)\n"
        "except RunError as error: print(error)\n"
        # Not ru_maxrss, which also counts the process that started this one.
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(bundle)], capture_output=True, text=True, check=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    *refused, peak = done.stdout.splitlines()
    assert int(peak) < 300_000  # kB
    assert bool(refused) == (megabytes == 900)
