"""Film files: frames and timing are read back, and there is never a partial film."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gymnast.errors import EnvError, UsageError
from gymnast.film.encode import FilmWriter
from tests.film.film_envs import decode_film
from tests.waiting import size_of_files, wait_for


def gradient(i: int, height: int = 48, width: int = 64) -> np.ndarray:
    """Returns a picture that differs from the previous and the next one in every pixel."""
    y, x = np.mgrid[:height, :width]
    picture = np.stack([x * 3, y * 4, np.full_like(x, 60 + 12 * i)], -1)
    return picture.astype(np.uint8)


def test_a_film_has_every_frame_at_its_time_in_its_colors(tmp_path: Path):
    with FilmWriter(tmp_path / "a.mp4", fps=25) as film:
        for i in range(10):
            film.add(gradient(i))
    frames, about = decode_film(tmp_path / "a.mp4")
    assert frames.shape == (10, 48, 64, 3)
    assert (about["codec"], about["format"], about["fps"]) == ("h264", "yuv420p", 25)
    assert about["seconds"] == pytest.approx(10 / 25)
    for i in (0, 4, 9):
        assert np.abs(frames[i].astype(int) - gradient(i)).mean() < 4


def _film(path: Path, frames: list[np.ndarray]) -> None:
    with FilmWriter(path, 10) as film:
        for frame in frames:
            film.add(frame)


@pytest.mark.parametrize("fps", [4, 29.97, 60])
def test_the_frame_rate_is_kept(tmp_path: Path, fps: float):
    with FilmWriter(tmp_path / "a.mp4", fps) as film:
        for i in range(8):
            film.add(gradient(i))
    frames, about = decode_film(tmp_path / "a.mp4")
    assert len(frames) == 8
    assert about["fps"] == pytest.approx(fps, rel=1e-3)


def test_odd_sizes_are_made_even_without_losing_a_pixel(tmp_path: Path):
    with FilmWriter(tmp_path / "a.mp4", 10) as film:
        film.add(gradient(0, 47, 63))
    frames, _ = decode_film(tmp_path / "a.mp4")
    assert frames.shape == (1, 48, 64, 3)
    assert np.abs(frames[0, :47, :63].astype(int) - gradient(0, 47, 63)).mean() < 4


def test_a_film_can_be_played_while_it_loads(tmp_path: Path):
    with FilmWriter(tmp_path / "a.mp4", 10) as film:
        film.add(gradient(0))
    content = (tmp_path / "a.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_a_failure_while_writing_leaves_the_previous_film(tmp_path: Path):
    path = tmp_path / "a.mp4"
    with FilmWriter(path, 10) as film:
        film.add(gradient(0))
    before = path.read_bytes()
    with pytest.raises(EnvError, match="change their size"):
        _film(path, [gradient(0), gradient(1, 64, 64)])
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_without_frames_no_file_is_written(tmp_path: Path):
    with FilmWriter(tmp_path / "a.mp4", 10):
        pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("name", "fps"), [("a.avi", 10), ("a", 10), ("a.mp4", 1000)])
def test_invalid_names_and_frame_rates_are_rejected_before_writing(
    tmp_path: Path, name: str, fps: float
):
    with pytest.raises(UsageError):
        FilmWriter(tmp_path / name, fps)


def test_a_directory_that_cannot_be_written_raises_a_clear_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="not written"), FilmWriter(tmp_path / "file/a.mp4", 10):
        pass


ENDLESS = """
import sys; from pathlib import Path; import numpy as np
from gymnast.film.encode import FilmWriter
noise = np.random.default_rng(0)
with FilmWriter(Path(sys.argv[1]), 10) as film:
    while True:
        film.add(noise.integers(0, 255, (240, 320, 3), np.uint8))
"""


def test_kill_9_leaves_no_partial_film_and_the_next_writer_deletes_the_draft(tmp_path: Path):
    path = tmp_path / "a.mp4"
    child = subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)])
    try:
        wait_for(lambda: child.poll() is not None or size_of_files(tmp_path) >= 200_000)
        assert child.poll() is None
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert not path.exists()
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".a.mp4.")
    with FilmWriter(path, 10) as film:
        film.add(gradient(0))
    assert os.listdir(tmp_path) == ["a.mp4"]


def test_a_full_disk_raises_a_clear_error_and_leaves_no_file(tmp_path: Path):
    full = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""
    command = [sys.executable, "-c", full + ENDLESS, str(tmp_path / "a.mp4")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "GymnastError" in done.stderr.splitlines()[-2]
    assert "not written" in done.stderr
    assert os.listdir(tmp_path) == []
