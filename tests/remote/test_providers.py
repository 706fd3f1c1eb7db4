"""Providers are found by name, checked before anything is started, and limited for other programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli.train import train
from gymnast.config.problems import InvalidConfig
from gymnast.errors import Failure, UsageError
from gymnast.jobs.remote.provider import SHIPPED, Provider, find_provider, require_programs
from gymnast.settings import JOB_NAMES, SHELL_NAMES, SUBMIT_NAMES, parse_settings
from gymnast.text.command_template import check_template


def write_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_commands_of_every_shipped_provider_are_valid_templates(kind: str):
    provider = SHIPPED[kind](["--option"])
    check_template(provider.submit, SUBMIT_NAMES)
    for words in (provider.status, provider.cancel):
        assert words is not None
        check_template(words, JOB_NAMES)
    if provider.shell is not None:
        check_template(provider.shell, SHELL_NAMES, ("command",))


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("slrum", "no provider is called 'slrum'"),
        ("ssh", "no provider is called 'ssh'"),
        ("ssh:", "no provider is called 'ssh:'"),
        ("ssh:-oProxyCommand=touch", "is not the name of a host"),
        ("ssh:box;reboot", "is not the name of a host"),
        ("slurm:x", "no provider is called"),
        ("qsub {comand}", "did you mean command"),
        ("no-such-program-here {command}", "'no-such-program-here', which was not found"),
        ("bin/qsub {command}", "is a relative path"),
        (" {command}", None),
    ],
)
def test_a_wrong_provider_is_one_error(target: str, problem: str | None):
    with pytest.raises(UsageError, match=problem):
        require_programs(find_provider(target))


def test_a_provider_of_the_settings_file_replaces_single_commands_of_the_one_it_is_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = """
providers:
  gpu: {like: slurm, options: [--partition=gpu], cancel: [scancel, --batch, "{id}"]}
  box: {like: ssh, host: me@box, options: [-p, "2222"], store: shared, runs: /data, python: /v/bin/python}
  pod:
    shell: [kubectl, exec, -i, pod, --, sh, -c, "{command}"]
    store: copy
    timeout: 5
"""
    write_settings(tmp_path, monkeypatch, text)
    gpu, box, pod = (find_provider(name) for name in ("gpu", "box", "pod"))
    plain = SHIPPED["slurm"](())
    assert gpu.submit[-3:] == ("--partition=gpu", *plain.submit[-2:])
    assert (gpu.cancel, gpu.status) == (("scancel", "--batch", "{id}"), plain.status)
    assert (box.host, box.store, box.runs, box.python) == (
        "me@box",
        "shared",
        "/data",
        "/v/bin/python",
    )
    assert box.shell is not None
    assert box.shell[-5:] == ("-p", "2222", "--", "{host}", "{command}")
    assert (pod.store, pod.runs, pod.timeout) == ("copy", "gymnast-runs", 5.0)
    assert pod.submit[:7] == ("kubectl", "exec", "-i", "pod", "--", "sh", "-c")
    assert "host start" in pod.submit[-1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("providers: {x: {submit: [sh, '{comand}']}}", "not a placeholder"),
        ("providers: {x: {submit: [sh, -c, echo]}}", "has no {command} or {argv}"),
        ("providers: {x: {like: ssh}}", "has no `host`"),
        ("providers: {x: {host: y}}", "neither `like` nor a `submit` or `shell`"),
        ("providers: {x: {like: ssh, host: -oX}}", "is not the name of a host"),
        ("providers: {x: {like: slurm, store: copy}}", "needs a `shell`"),
        ("providers: {x: {like: slurm, cancel: [scancel]}}", "has no {id} or {job}"),
    ],
)
def test_a_mistake_in_the_settings_file_is_reported_with_its_place(text: str, problem: str):
    with pytest.raises(InvalidConfig) as refused:
        parse_settings(text, "settings.yaml")
    assert problem in str(refused.value)
    assert "settings.yaml:1" in str(refused.value)


@pytest.mark.parametrize("target", ["ssh:box", "slurm", "ray", "local", "sh -c {command}", "other"])
def test_other_programs_may_only_name_providers_of_the_settings_file(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs_dir: Path
):
    write_settings(tmp_path, monkeypatch, "providers: {mine: {like: local}}")
    arguments = {
        "start": {"target": "CartPole-v1", "jobs_on": target},
        "host_check": {"provider": target},
    }
    for name, values in arguments.items():
        answer = api.call(name, values)
        assert isinstance(answer, Failure)
        assert "no provider is called" in answer.message
        assert "mine" in answer.fix
    assert not runs_dir.exists()


def test_requeue_of_other_programs_needs_a_provider():
    answer = api.call("start", {"target": "CartPole-v1", "requeue": True})
    assert isinstance(answer, Failure)
    assert "applies to jobs on a provider" in answer.message


def test_a_provider_without_commands_cannot_be_submitted_to():
    from gymnast.api import hosts

    with pytest.raises(UsageError, match="has no submit command"):
        hosts.place("template", requeue=False)
    assert find_provider("template") == Provider("template", submit=())


def test_a_dry_run_refuses_a_place_whose_programs_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["CartPole-v1", "--jobs-on", "slurm", "--dry-run", "--runs", str(tmp_path)]
    with pytest.raises(UsageError, match="'sbatch', which was not found"):
        CliRunner().invoke(train, words, standalone_mode=False, catch_exceptions=False)
