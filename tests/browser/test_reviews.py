"""Reviews in a browser: a command of the user's settings file reads a bundle about an episode, and its answer
is shown next to the episode."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gymnast import api
from gymnast.settings import FILE_VARIABLE
from tests.browser.conftest import OpenPage
from tests.browser.inspected import CARTPOLE, newest_episode
from tests.browser.sample import SampleRuns, read_sample
from tests.browser.studio import Studio

pytestmark = pytest.mark.slow
REVIEWER = """
import sys
from pathlib import Path

text, frames = sys.stdin.read(), list(Path("frames").glob("*.png"))
print(f"It has {len(text):,} characters and {len(frames)} frames.")
print("<b>The pole falls to the right.</b>")
"""


@pytest.fixture
def runs(inspected: SampleRuns, runs_dir: Path) -> SampleRuns:
    """A copy of a run, without reviews."""
    run = inspected.ids[CARTPOLE]
    shutil.copytree(inspected.path / run, runs_dir / run)
    return read_sample(runs_dir)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home directory of the user of the studio, without a settings file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (FILE_VARIABLE, "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write_settings(home: Path) -> None:
    """Writes a settings file with the command `coach`."""
    (home / "coach.py").write_text(REVIEWER)
    settings = home / ".config" / "gymnast" / "settings.yaml"
    settings.parent.mkdir(parents=True)
    command = [sys.executable, "~/coach.py"]
    settings.write_text(json.dumps({"review": {"coach": {"command": command, "frames": "files"}}}))


def open_reviews(page: Page) -> Locator:
    expect(page.get_by_role("article", name="Episode")).to_have_attribute(
        "aria-busy", "false", timeout=60_000
    )
    page.get_by_role("tab", name="Review").click()
    return page.get_by_role("tabpanel", name="Review")


def test_a_configured_command_reviews_the_episode(
    home: Path, runs: SampleRuns, studio: Studio, new_page: OpenPage
) -> None:
    write_settings(home)
    page = new_page(studio, newest_episode(runs, CARTPOLE))
    panel = open_reviews(page)
    expect(panel).to_contain_text("passed to the command coach of your settings file")
    panel.get_by_role("button", name="Review…").click()
    dialog = page.get_by_role("dialog")
    receives = dialog.get_by_text(re.compile("The command coach receives"))
    expect(receives).to_be_visible(timeout=60_000)
    parts = dialog.get_by_role("listitem")
    for part in ("config", "moments", "steps", "frames of the steps"):
        expect(parts.filter(has_text=re.compile(f"^{part}"))).to_be_visible()
    assert api.reviews(runs.ids[CARTPOLE], runs_dir=runs.path).reviews == ()
    announced = re.search(r"receives ([\d,]+) characters", receives.inner_text())
    assert announced is not None
    frames = parts.filter(has_text="frames of the steps").inner_text().count(",") + 1
    dialog.get_by_role("button", name="Pass it on").click()
    answer = panel.get_by_text("<b>The pole falls to the right.</b>")
    expect(answer).to_be_visible(timeout=60_000)
    expect(answer).to_contain_text(f"It has {announced[1]} characters and {frames} frames.")
    expect(panel.get_by_role("heading", name=re.compile("^coach"))).to_be_visible()
    # It belongs to this episode: another one has no answer.
    page.goto(re.sub(r"-\d+(\?.*)?$", "-1", page.url))
    panel = open_reviews(page)
    expect(panel.get_by_role("button", name="Review…")).to_be_visible()
    expect(panel.get_by_role("heading")).to_have_count(0)


def test_without_a_command_the_bundle_is_written_to_a_file(
    home: Path, runs: SampleRuns, studio: Studio, new_page: OpenPage
) -> None:
    assert not (home / ".config").exists()
    page = new_page(studio, newest_episode(runs, CARTPOLE))
    panel = open_reviews(page)
    expect(panel).to_contain_text("Nothing leaves this machine.")
    panel.get_by_role("button", name="Review…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("A file of the run gets")).to_be_visible(timeout=60_000)
    dialog.get_by_role("button", name="Write the bundle").click()
    written = panel.get_by_role("heading", name=re.compile("^Written to a file"))
    expect(written).to_be_visible(timeout=60_000)
    (review,) = api.reviews(runs.ids[CARTPOLE], runs_dir=runs.path).reviews
    expect(panel.get_by_text(review.bundle)).to_be_visible()
    text = Path(review.bundle).read_text()
    assert "algo" in text
    assert str(home) not in text
