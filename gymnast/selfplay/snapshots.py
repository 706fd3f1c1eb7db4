"""Policy snapshots in the run's directory `league/`: past selves, and players from other runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gymnast.errors import RunError
from gymnast.league import stored_cross_play
from gymnast.policy.policy import Policy
from gymnast.runs import durable, files, layout
from gymnast.runs.role_arrays import add_role_prefix, arrays_of_role
from gymnast.runs.tensors import pack, read_header, unpack


class Snapshots:
    def __init__(self, run_dir: Path) -> None:
        self.directory = layout.LEAGUE.path(run_dir)

    def file(self, name: str | int) -> Path:
        """Returns the path of a snapshot: of a past self by its step, of a player from elsewhere by name."""
        stem = f"{name:012d}" if isinstance(name, int) else name
        return self.directory / f"{stem}.safetensors"

    @staticmethod
    def guest_name(role: str, rung: int) -> str:
        """Returns the name of the snapshot of a player from another run, by its rung on a role's ladder."""
        return f"{role}-{rung}"

    def steps(self) -> list[int]:
        """Returns the env steps at which the stored past selves were taken, in increasing order."""
        stems = (file.stem for file in self.directory.glob("*.safetensors"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def write(self, name: str | int, policies: Mapping[str, Policy]) -> None:
        """Writes policies (role -> policy) to one file, which replaces any file of that name: a past self by
        its step, a player from elsewhere by `guest_name`."""
        arrays = add_role_prefix({role: policy.arrays() for role, policy in policies.items()})
        specs = {role: policy.spec() for role, policy in policies.items()}
        self.directory.mkdir(exist_ok=True)
        durable.replace(self.file(name), pack(arrays, {"policies": specs}))

    def read(self, name: str | int, role: str) -> Policy:
        """Returns the policy of a role in the snapshot `name` (see `file`); raises RunError if the file is
        missing or damaged."""
        path = self.file(name)
        try:
            content = files.read(path, limit=files.MAX_ARRAYS)
            policy = Policy.from_spec(read_header(content)["policies"][role])
            policy.load(arrays_of_role(role, unpack(content)))
        except OSError as error:
            problem = f"a past self cannot be read: {error.strerror}"
            raise RunError(
                problem, at=str(path), fix="gymnast resume --at an older checkpoint"
            ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"a past self is damaged: {error!r}", at=str(path)) from error
        return policy

    def copy(self, target_dir: Path, up_to: int) -> None:
        """Copies the past selves up to env step `up_to`, and the players from other runs, to the run in
        directory `target_dir`."""
        target = Snapshots(target_dir)
        later = {self.file(step) for step in self.steps() if step > up_to}
        for file in self.directory.glob("*.safetensors"):
            if file not in later:
                target.directory.mkdir(exist_ok=True)
                content = files.read(file, limit=files.MAX_ARRAYS)
                durable.write(target.directory / file.name, content)

    def delete_after(self, step: int) -> None:
        """Deletes the past selves after this step, for a run that resumes from it."""
        superseded = [later for later in self.steps() if later > step]
        for later in superseded:
            self.file(later).unlink(missing_ok=True)
        if superseded:
            # Cross-play results name past selves by step, and another one may be taken at the same step.
            stored_cross_play.file(self.directory.parent).unlink(missing_ok=True)
