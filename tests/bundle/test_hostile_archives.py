"""Archives that are damaged, or made to do harm, are refused with one error, and write nothing outside."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.bundle.bundle import make_bundle, write_bundle
from gymnast.bundle.record import DEFAULT_MAX_SIZE
from gymnast.errors import GymnastError, RunError
from gymnast.runs import unpack
from gymnast.runs.layout import FILES
from gymnast.runs.run import Run
from gymnast.runs.unpack import BUNDLED, is_safe_name, open_bundle

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def good(trained: Run) -> Files:
    """Returns the files of a bundle: name in the archive -> content."""
    return make_bundle(trained, "none", DEFAULT_MAX_SIZE).files


def folder(files: Files) -> str:
    return next(iter(files)).partition("/")[0]


def with_file(files: Files, name: str, content: bytes = b"x", *, listed: bool = True) -> Files:
    """Returns a bundle with another file, in the manifest as well if `listed`."""
    head = f"{folder(files)}/manifest.json"
    manifest = json.loads(files[head])
    if listed:
        entry = {"name": name, "part": "run", "size": len(content)}
        manifest["files"].append({**entry, "sha256": sha256(content).hexdigest(), "note": ""})
    return {**files, head: json.dumps(manifest).encode(), f"{folder(files)}/{name}": content}


def with_manifest(files: Files, /, **fields: object) -> Files:
    head = f"{folder(files)}/manifest.json"
    return {**files, head: json.dumps({**json.loads(files[head]), **fields}).encode()}


def write(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


WRONG: dict[str, tuple[Callable[[Files], Files], str]] = {
    "parent": (lambda f: with_file(f, "../evil.txt"), "not a file of a run"),
    "deep parent": (lambda f: with_file(f, "traces/../../../evil.txt"), "not a file of a run"),
    "absolute": (lambda f: with_file(f, "/tmp/evil.txt"), "not a file of a run"),
    "backslash": (lambda f: with_file(f, "traces\\..\\evil"), "not a file of a run"),
    "drive": (lambda f: with_file(f, "C:evil.txt"), "not a file of a run"),
    "hidden": (lambda f: with_file(f, "traces/.evil"), "not a file of a run"),
    "newline": (lambda f: with_file(f, "traces/a\nb"), "not a file of a run"),
    "foreign": (lambda f: with_file(f, "evil.py"), "not a file of a run"),
    "lock": (lambda f: with_file(f, "lock"), "not a file of a run"),
    "inbox": (lambda f: with_file(f, "inbox/stop.json"), "not a file of a run"),
    "folder as file": (lambda f: with_file(f, "run.json/x"), "not a file of a run"),
    "not listed": (lambda f: with_file(f, "traces/x", listed=False), "not in its manifest"),
    "outside": (lambda f: {**f, "../evil.txt": b"x"}, "not in its manifest"),
    "second folder": (lambda f: {**f, "other/run.json": b"{}"}, "not in its manifest"),
    "second run": (lambda f: {**f, "other/manifest.json": b"{}"}, "is not a bundle"),
    "newer": (lambda f: with_manifest(f, version=99), "bundle format 99 is not known here"),
    "no version": (lambda f: with_manifest(f, version=None), "bundle format None is not known"),
    "no files": (lambda f: with_manifest(f, files=[]), "is not in its manifest"),
    "wrong files": (lambda f: with_manifest(f, files=7), "manifest.json is incomplete"),
    "no manifest": (
        lambda f: {n: c for n, c in f.items() if not n.endswith("manifest.json")},
        "is not a bundle",
    ),
    "no JSON": (
        lambda f: {**f, f"{folder(f)}/manifest.json": b"[" * 100_000},
        "manifest.json cannot be read",
    ),
    "no run": (lambda f: {n: c for n, c in f.items() if not n.endswith("run.json")}, "is missing"),
    "changed": (lambda f: {**f, f"{folder(f)}/config.yaml": b"a: 1\n"}, "as its manifest says"),
    "nothing": (lambda _: {}, "is not a bundle"),
    "odd name of the run": (
        lambda f: {n.replace(folder(f), "..", 1): c for n, c in f.items()},
        "is not a bundle",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_archives_are_refused(good: Files, tmp_path: Path, case: str):
    change, message = WRONG[case]
    (tmp_path / "place").mkdir()
    file = write(tmp_path / "place" / "x.zip", change(good))
    before = set(tmp_path.parent.rglob("*evil*")) | set(Path("/tmp").glob("*evil*"))
    with pytest.raises(RunError, match=message) as refused:
        api.show(str(file))
    assert refused.value.at.startswith(str(file))
    assert "\n" not in refused.value.message
    assert (set(tmp_path.parent.rglob("*evil*")) | set(Path("/tmp").glob("*evil*"))) == before
    assert [*file.parent.iterdir()] == [file]


def member(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_links_folders_and_devices_are_refused(good: Files, tmp_path: Path, mode: int):
    file = write(tmp_path / "x.zip", good)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(member(f"{folder(good)}/traces/x", mode | 0o777), "/etc/passwd")
    with pytest.raises(RunError, match="is not a plain file"):
        open_bundle(file)


def test_a_name_that_occurs_twice_is_refused(good: Files, tmp_path: Path):
    file = write(tmp_path / "x.zip", good)
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(f"{folder(good)}/run.json", "{}")
    with pytest.raises(RunError, match="several files with the same name"):
        open_bundle(file)


def test_bombs_are_refused_before_they_are_unpacked(
    good: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(unpack, "MAX_UNPACKED", 1_000_000)
    bomb = with_file(good, "traces/zeros", bytes(2_000_000))
    with pytest.raises(RunError, match="too large to be a bundle"):
        open_bundle(write(tmp_path / "x.zip", bomb))
    many = good | {f"{folder(good)}/traces/{i}": b"" for i in range(unpack.MAX_FILES)}
    with pytest.raises(RunError, match="too large to be a bundle"):
        open_bundle(write(tmp_path / "y.zip", many))


def test_a_member_that_is_larger_than_it_says_is_refused(good: Files, tmp_path: Path):
    """The sizes in the archive's directory are changed to 10 bytes; the content has a million."""
    zeros = bytes(1_000_000)
    file = write(tmp_path / "x.zip", with_file(good, "traces/zeros", zeros))
    content = bytearray(file.read_bytes())
    size = len(zeros).to_bytes(4, "little")
    while (at := content.find(size)) >= 0:
        content[at : at + 4] = (10).to_bytes(4, "little")
    file.write_bytes(content)
    with pytest.raises(RunError, match="is damaged"):
        open_bundle(file)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_archives_are_refused_or_hold_what_was_written(
    good: Files, tmp_path: Path, data: st.DataObject
):
    """Bytes are changed or cut off anywhere: never a traceback, never another content."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, stored in good.items():
            archive.writestr(zipfile.ZipInfo(name), stored, zipfile.ZIP_DEFLATED)
    content = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    file = tmp_path / f"{data.draw(st.integers(0, 10**9))}.zip"
    file.write_bytes(content[:end])
    try:
        opened = open_bundle(file)
    except RunError:
        return
    for name, stored in good.items():
        assert (opened.parent / name).read_bytes() == stored


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive", bytes(1000)])
def test_other_files_are_no_bundles(tmp_path: Path, content: bytes):
    file = tmp_path / "x.zip"
    file.write_bytes(content)
    for read in (api.show, api.rows, api.doctor, api.report, api.logs, api.league):
        with pytest.raises(RunError, match="is damaged: it is no archive, or incomplete"):
            read(str(file))
    with pytest.raises(RunError, match="cannot be read: No such file"):
        api.show(str(tmp_path / "missing.zip"))
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(RunError, match="cannot be unpacked: Is a directory"):
        api.show(str(tmp_path / "folder.zip"))


def test_bundles_cannot_be_changed(run: Run, tmp_path: Path):
    file = tmp_path / "x.zip"
    write_bundle(make_bundle(run, None, DEFAULT_MAX_SIZE), file)
    before = file.read_bytes()
    for change in (
        lambda ref: api.note(ref, "x"),
        lambda ref: api.tag(ref, ["x"]),
        lambda ref: api.export(ref, "csv"),
        lambda ref: api.remove([ref]),
        lambda ref: api.resume(ref),
        api.pause,
        api.bundle,
    ):
        with pytest.raises(GymnastError, match="is a bundle, which can only be read"):
            change(str(file))
    assert file.read_bytes() == before


def test_the_unpacked_files_are_private_and_deleted_with_the_process(good: Files, tmp_path: Path):
    file = write(tmp_path / "x.zip", good)
    code = (
        "import os, sys; from gymnast.runs.unpack import open_bundle; from pathlib import Path\n"
        f"a, b = open_bundle(Path({str(file)!r})), open_bundle(Path({str(file)!r}))\n"
        "assert a == b\n"
        "if not os.fork(): sys.exit()\n"
        "os.wait(); print(a, (a / 'run.json').exists(), oct(a.parent.stat().st_mode & 0o777))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    path, exists, mode = done.stdout.split()
    assert (exists, mode) == ("True", "0o700")
    assert not Path(path).parent.exists()


def test_a_bundle_that_was_replaced_is_opened_anew(good: Files, tmp_path: Path):
    file = write(tmp_path / "x.zip", good)
    first = open_bundle(file)
    os.replace(write(tmp_path / "y.zip", with_manifest(good, status="failed")), file)
    assert open_bundle(file) != first
    assert api.show(str(file)).status == "failed"


def test_only_files_of_runs_are_safe():
    for file in FILES:
        name = f"{file.name}x" if file.name.endswith("/") else file.name
        assert is_safe_name(name) == (file in BUNDLED), name
