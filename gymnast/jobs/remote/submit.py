"""Submits jobs to a provider: claims the run, writes the record, sends files, starts the job."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

from gymnast.config.presets import find_preset
from gymnast.config.target import split_target
from gymnast.errors import CommandFailed, RunError
from gymnast.hosts import HostFacts, env_packages, find_module, refuse_differences, user_modules
from gymnast.jobs import record
from gymnast.jobs.detach import StartedRun, claim, delete_unless_run, job_request
from gymnast.jobs.remote import transfer
from gymnast.jobs.remote.arrival import code_dir
from gymnast.jobs.remote.call import TRANSFER_SECONDS, call_provider, python_there, run_there
from gymnast.jobs.remote.check import ask_host
from gymnast.jobs.remote.provider import Provider, require_programs
from gymnast.runs import store, trust
from gymnast.text.command_template import quote_word
from gymnast.training.request import ResumeRequest, TrainRequest


def facts_for(
    provider: Provider, request: TrainRequest | ResumeRequest, runs_dir: Path
) -> HostFacts:
    """Returns the facts of this machine that the job of a request depends on. The host is compared at once if
    it can be asked, otherwise by each job when it starts. Raises UsageError if a program is missing,
    CommandFailed if the host does not answer, and GymnastError if it differs."""
    require_programs(provider)
    env_id, texts = _env_and_texts(request, runs_dir)
    here = HostFacts.here(env_packages(env_id), user_modules(*texts))
    if provider.shell is not None:
        # Modules of the user are sent to a host that does not see them, so only the job can compare them.
        asked = replace(here, modules={}) if provider.store == "copy" else here
        refuse_differences(asked, ask_host(provider, asked))
    return here


def _env_and_texts(
    request: TrainRequest | ResumeRequest, runs_dir: Path
) -> tuple[str, list[str | None]]:
    """Returns the environment of a request, and the texts that may name the user's own modules."""
    if isinstance(request, ResumeRequest):
        run, _ = store.resolve(request.run, runs_dir)
        run.trusted_config()  # the host imports its code without asking again
        return run.info["env"], [run.config_text(), str(request.overrides)]
    preset = find_preset(split_target(request.target)[0])
    own = preset.path.read_text(encoding="utf-8") if preset.path and not preset.is_builtin else ""
    return preset.env_id, [request.target, request.algo, str(request.overrides), own]


def submit_job(
    request: TrainRequest | ResumeRequest,
    provider: Provider,
    facts: HostFacts,
    *,
    runs_dir: Path,
    requeue: bool = False,
    max_jobs: int | None = None,
    target: str = "",
    seed: int | None = None,
) -> StartedRun:
    """Submits a job and returns at once. `facts`: those of `facts_for`; `requeue`: continue it after a
    preemption; `max_jobs`: the number of jobs that train at once on a host without a queue of its own;
    `target` and `seed` of a run to be resumed. Raises RunError if the run to be resumed is active, and
    CommandFailed if the provider does not accept the job; then nothing is left of it."""
    runs_dir = runs_dir.resolve()
    folder = record.jobs_dir(runs_dir)
    path, attempts = claim(request, runs_dir)
    remote = record.RemoteRequest(
        on=provider.name,
        store=provider.store,
        runs=provider.runs or str(runs_dir),
        cwd="" if provider.store == "copy" else os.getcwd(),
        facts=asdict(facts),
        requeue=requeue,
        max_jobs=max_jobs or 0,
    )
    sent = _runs_to_send(request, path, runs_dir) if provider.store == "copy" else {}
    request = _as_seen_there(request, sent, provider)
    job = job_request(request, target=target, seed=seed, attempts=attempts)
    try:
        written = record.write(folder, path.name, {**job, "remote": remote})
        signature = trust.new_signature(record.submission(written))
        record.update(folder, path.name, signature=signature)
        if provider.store == "copy":
            _send(provider, runs_dir, path.name, sent, facts)
        start_there(provider, runs_dir, path.name)
    except BaseException:
        record.delete(folder, path.name)
        delete_unless_run(path)
        raise
    return StartedRun(
        path.name, "queued", None, str(path), job["name"], job["seed"], job["group"], provider.name
    )


def start_there(provider: Provider, runs_dir: Path, job_id: str) -> None:
    """Runs the submit command of a job and records the id that it prints. Raises CommandFailed."""
    folder = record.jobs_dir(runs_dir)
    job = record.read(folder, job_id)
    assert "remote" in job
    remote = job["remote"]
    argv = [python_there(provider), "-m", "gymnast.jobs.worker", "remote", remote["runs"], job_id]
    values = placeholders(remote, job_id) | {
        "command": " ".join(map(quote_word, argv)),
        "name": job["name"] or job_id,
        "requeue": "--requeue" if remote["requeue"] else "--no-requeue",
        "max_jobs": str(remote["max_jobs"]),
    }
    printed = call_provider(provider, "submit", values, argv).split()
    if not printed and provider.status is not None:
        problem = f"the submit command of {provider.name} printed no id"
        raise CommandFailed(problem, fix="its last word must be the id of the job")
    # `sbatch --parsable` prints ID;CLUSTER
    remote_id = printed[-1].partition(";")[0] if printed else ""
    record.update(folder, job_id, remote_id=remote_id, settled=False, state="waiting", late="")


def placeholders(remote: record.RemoteRequest, job_id: str) -> dict[str, str]:
    """Returns the values of placeholders that every command about a job has."""
    runs = remote["runs"]
    output = record.output_file(record.jobs_dir(Path(runs)), job_id)
    return {"job": job_id, "runs": runs, "run": f"{runs}/{job_id}", "log": str(output)}


def _runs_to_send(
    request: TrainRequest | ResumeRequest, path: Path, runs_dir: Path
) -> dict[str, Path]:
    """Returns name there -> directory here, of the runs that a job reads: the one that it resumes or whose
    weights it starts from."""
    source = request.source if isinstance(request, TrainRequest) else request.run
    if source is None:
        return {}
    run, _ = store.resolve(source, runs_dir)
    sent = {run.id: run.path}
    if run.path == path and (parent := run.info["parent"]) is not None:
        # A run that was killed before its first checkpoint starts again from the weights of its parent.
        sent |= {parent: runs_dir / parent} if (runs_dir / parent).exists() else {}
    return sent


def _as_seen_there(
    request: TrainRequest | ResumeRequest, sent: dict[str, Path], provider: Provider
) -> TrainRequest | ResumeRequest:
    """Returns the request with references to runs that are valid in the runs directory of the host."""
    if sent:  # by id: paths of this machine do not exist there
        name = next(iter(sent))
        if isinstance(request, ResumeRequest):
            return replace(request, run=name)
        checkpoint = store.resolve(request.source or "", sent[name].parent)[1]
        return replace(request, source=f"{name}:{checkpoint}" if checkpoint else name)
    if provider.runs and isinstance(request, ResumeRequest):
        return replace(request, run=Path(request.run).name)
    if provider.runs and isinstance(request, TrainRequest) and request.source:
        return replace(request, source=Path(request.source).name)
    return request


def _send(
    provider: Provider, runs_dir: Path, job_id: str, runs: dict[str, Path], facts: HostFacts
) -> None:
    """Sends the record of a job, the runs that it reads and the user's files that it needs to a host."""
    folder = record.jobs_dir(runs_dir)
    job = record.read(folder, job_id)
    code = f"{folder.name}/{code_dir(folder, job_id).name}"
    files = dict(runs)
    files |= {f"{code}/{name}": path for name, path in user_files(job["target"], facts).items()}
    with tempfile.TemporaryFile() as archive, tempfile.TemporaryDirectory() as empty:
        transfer.pack(
            {
                code: Path(empty),
                **files,
                f"{folder.name}/{job_id}.json": record.file(folder, job_id),
            },
            archive,
        )
        archive.seek(0)
        run_there(provider, ["receive", provider.runs], stdin=archive, timeout=TRANSFER_SECONDS)


def user_files(target: str, facts: HostFacts) -> dict[str, Path]:
    """Returns name there -> file or directory here, of the user's own code and preset that a job needs: the
    top package or the file of each module, unless it is installed as a package."""
    found = dict[str, Path]()
    for module in facts.modules:
        top = module.partition(".")[0]
        spec = find_module(top)
        if spec is None or not (spec.origin or spec.submodule_search_locations):
            raise RunError(f"the module {module} was not found", fix="start in its directory")
        folders = [*(spec.submodule_search_locations or ())]
        path = Path(folders[0] if folders else spec.origin or "")
        if not {"site-packages", "dist-packages"} & {*path.parts}:
            found[path.name] = path
    env, _ = split_target(target)
    preset = find_preset(env)
    if preset.path is not None and not preset.is_builtin:
        found[f"presets/{preset.path.name}"] = preset.path
    return found
