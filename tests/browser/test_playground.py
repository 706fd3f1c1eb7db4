"""The playground learns in the browser: without any run, and without asking the server anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pictures import store_picture
from tests.browser.studio import PHONE, Studio, expect_to_fit, serious_findings, serving, settle

pytestmark = pytest.mark.slow

FASTEST = "speed=7"
MOVES = {"left": (0, -1), "down": (1, 0), "right": (0, 1), "up": (-1, 0)}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio without any run."""
    with serving(tmp_path_factory.mktemp("no-runs")) as studio:
        yield studio


def learn(page: Page) -> None:
    page.get_by_role("button", name="Learn", exact=True).click()


def cell(page: Page, row: int, column: int) -> Locator:
    return page.get_by_role("gridcell", name=re.compile(rf"^row {row}, column {column},"))


def labels(page: Page) -> dict[tuple[int, int], str]:
    """Returns (row, column) -> what assistive technology reads about the cell."""
    texts = page.get_by_role("gridcell").evaluate_all(
        "(cells) => cells.map((cell) => cell.getAttribute('aria-label'))"
    )
    found: dict[tuple[int, int], str] = {}
    for text in texts:
        row, column, rest = text.split(", ", 2)
        found[int(row.split()[1]), int(column.split()[1])] = rest
    return found


def policy(label: str) -> str:
    """Returns the best action of a cell, or the likeliest one if the policy is random."""
    text = label.partition(", policy ")[2]
    shares = {name: int(share) for name, share in re.findall(r"(\w+) (\d+) %", text)}
    return max(shares, key=lambda name: shares[name]) if shares else text.split(" or ")[0]


def walk(page: Page, most: int = 100) -> tuple[str, int]:
    """Follows the policy that the cells say from the first one; returns what is at the end, and the steps."""
    cells, place = labels(page), (1, 1)
    for step in range(most):
        kind = cells[place].split(",")[0]
        if kind in ("goal", "pit"):
            return kind, step
        rows, columns = MOVES[policy(cells[place])]
        place = place[0] + rows, place[1] + columns
    return "nothing", most


@pytest.mark.parametrize("algorithm", ["value_iteration", "q_learning", "sarsa", "reinforce"])
def test_the_learned_policy_reaches_the_goal(
    algorithm: str, studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(studio, f"/playground?world=maze&algo={algorithm}&{FASTEST}")
    settle(page)
    expect(page.get_by_text("leads nowhere yet")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    learn(page)
    reached = page.get_by_text(re.compile(r"reaches the goal in \d+ steps"))
    expect(reached).to_be_visible(timeout=60_000)
    if algorithm == "value_iteration":
        expect(page.get_by_text("converged")).to_be_visible()
    else:
        page.get_by_role("button", name="Pause", exact=True).click()
    # While it explores, single updates can still spoil the path; the next ones repair it.
    for _ in range(50):
        if reached.is_visible():
            break
        page.get_by_role("button", name="One episode").click()
    steps = int(re.sub(r"\D", "", reached.inner_text()))
    assert walk(page) == ("goal", steps)
    assert steps == 15 if algorithm == "value_iteration" else 15 <= steps <= 25
    assert asked == []


def test_drawing_a_wall_changes_the_policy(studio: Studio, new_page: OpenPage) -> None:
    page = new_page(studio, f"/playground?map=S.G/...&algo=value_iteration&{FASTEST}")
    settle(page)
    learn(page)
    expect(page.get_by_text("reaches the goal in 2 steps")).to_be_visible()
    expect(page.get_by_text("converged")).to_be_visible()
    assert policy(labels(page)[1, 1]) == "right"
    cell(page, 1, 2).click()
    expect(cell(page, 1, 2)).to_have_attribute("aria-label", "row 1, column 2, wall")
    learn(page)
    expect(page.get_by_text("reaches the goal in 4 steps")).to_be_visible()
    expect(page.get_by_text("converged")).to_be_visible()
    assert policy(labels(page)[1, 1]) == "down"
    assert walk(page) == ("goal", 4)
    # A second click removes it again.
    cell(page, 1, 2).click()
    learn(page)
    expect(page.get_by_text("reaches the goal in 2 steps")).to_be_visible()


def test_the_board_is_edited_with_the_keyboard_while_it_learns(
    studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(studio, f"/playground?map=S..G/....&{FASTEST}")
    settle(page)
    learn(page)
    expect(page.get_by_text("reaches the goal in 3 steps")).to_be_visible()
    cell(page, 1, 1).focus()
    page.keyboard.press("ArrowRight")
    expect(cell(page, 1, 2)).to_be_focused()
    page.keyboard.press("w")
    expect(page.get_by_text("reaches the goal in 5 steps")).to_be_visible(timeout=30_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("p")
    expect(
        page.get_by_text("leads nowhere yet").or_(page.get_by_text("leads into a pit"))
    ).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_text("reaches the goal in 5 steps")).to_be_visible(timeout=30_000)
    expect(page).to_have_url(re.compile(r"map=SW\.G/\.\.\.\."))


def test_sarsa_keeps_away_from_the_cliff(studio: Studio, new_page: OpenPage) -> None:
    page = new_page(studio, "/playground")
    settle(page)
    many = re.compile(r"^episodes\s*([2-9]|\d\d),")
    episodes = page.get_by_label("Progress").locator("div").filter(has_text=many)
    page.get_by_role("button", name="Safe or short? Q-learning").click()
    expect(episodes).to_be_visible(timeout=60_000)
    expect(page.get_by_text("reaches the goal in 13 steps")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Safe or short? SARSA").click()
    expect(page.get_by_text(re.compile("reaches the goal in 1[5-9] steps"))).to_be_visible(
        timeout=60_000
    )
    expect(page).to_have_url(re.compile("algo=sarsa"))
    # The curve of Q-learning stays for comparison.
    chart = page.get_by_role("region", name="Return per episode")
    expect(chart.get_by_text("Q-learning, α 0.1").first).to_be_visible()
    expect(episodes).to_be_visible(timeout=60_000)
    page.evaluate("scrollTo(0, 0)")
    store_picture(page, "playground")


def test_all_algorithms_find_the_best_arm(studio: Studio, new_page: OpenPage) -> None:
    page = new_page(
        studio, f"/playground?mode=bandit&arms=0.2,0.8,0.4&steps=1000&repetitions=20&{FASTEST}"
    )
    settle(page)
    learn(page)
    expect(page.get_by_text("step 1,000 of 1,000")).to_be_visible(timeout=60_000)
    for name in ("ε-greedy", "UCB1", "Thompson sampling"):
        rows = page.get_by_role("region", name=name).get_by_role("row")
        counts = [row.split()[-1].replace(",", "") for row in rows.all_inner_texts()[1:]]
        pulls = [int(count) for count in counts]
        assert sum(pulls) == 1000
        assert pulls.index(max(pulls)) == 1, name
    regret = page.get_by_role("region", name="Regret", exact=True)
    expect(regret.get_by_role("group")).to_have_attribute(
        "aria-label", re.compile(r"Thompson sampling \d")
    )


def test_the_address_is_the_state(studio: Studio, new_page: OpenPage) -> None:
    page = new_page(studio, "/playground?world=lake")
    settle(page)
    page.get_by_role("radio", name="SARSA").check()
    page.get_by_role("slider", name="Slip").fill("0.3")
    page.get_by_role("radio", name="Visits").check()
    expect(page).to_have_url(re.compile(r"slip=0\.3.*algo=sarsa.*show=visits"))
    other = new_page(studio, page.url.removeprefix(studio.address))
    settle(other)
    expect(other.get_by_role("radio", name="SARSA")).to_be_checked()
    expect(other.get_by_role("radio", name="Visits")).to_be_checked()
    expect(other.get_by_role("slider", name="Slip")).to_have_value("0.3")
    expect(cell(other, 2, 2)).to_have_attribute("aria-label", re.compile("pit, reward 0"))
    # Each tab comes back as it was left.
    other.get_by_role("tab", name="Bandit").click()
    expect(other.get_by_role("region", name="UCB1")).to_be_visible()
    other.get_by_role("tab", name="Grid world").click()
    expect(other.get_by_role("slider", name="Slip")).to_have_value("0.3")


@pytest.mark.parametrize("query", [f"show=q&{FASTEST}", f"mode=bandit&steps=500&{FASTEST}"])
def test_it_is_accessible_while_it_learns(query: str, studio: Studio, new_page: OpenPage) -> None:
    page = new_page(studio, f"/playground?{query}", color_scheme="light", reduced_motion="reduce")
    settle(page)
    learn(page)
    assert serious_findings(page) == []
    expect_to_fit(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    assert serious_findings(page) == []
    expect_to_fit(page)
