import { expect, test } from "vitest";
import { banditPath, parseBandit, type BanditView } from "./bandit/view";
import { DEFAULT_BANDIT } from "./bandit/settings";
import { PRESETS } from "./grid/presets";
import { ALGORITHMS } from "./grid/settings";
import { DEFAULT_VIEW, gridPath, parseGrid, withPreset, type GridView } from "./grid/view";
import { cleared, mapOf, MAX_COLUMNS, MAX_ROWS, resized, withCell, worldOf, type Cell } from "./grid/world";
import { Random } from "./random";

const paramsOf = (path: string) => new URL(path, "http://studio").searchParams;

function randomView(random: Random): GridView {
  const [rows, columns] = [2 + random.below(MAX_ROWS - 1), 2 + random.below(MAX_COLUMNS - 1)];
  const kinds = ["empty", "wall", "goal", "pit"] as const;
  const cell = (): Cell => {
    const kind = kinds[random.below(4)] ?? "empty";
    return { kind, reward: kind === "goal" || kind === "pit" ? random.below(20) / 4 - 2 : 0 };
  };
  const plain = resized(DEFAULT_VIEW.world, rows, columns);
  const world = withCell({ ...plain, cells: plain.cells.map(cell) }, random.below(rows * columns), "start");
  return {
    world: { ...world, slip: random.below(90) / 100, stepReward: 1 - random.below(3), wind: world.wind.map(() => random.below(3)), pitEnds: random.below(2) === 0, maxSteps: 10 + random.below(900) },
    settings: {
      algorithm: ALGORITHMS[random.below(4)] ?? "sarsa",
      alpha: (1 + random.below(99)) / 100,
      epsilon: random.below(100) / 100,
      gamma: random.below(100) / 100,
      lambda: random.below(100) / 100,
      baseline: random.below(2) === 0,
      seed: random.below(1000),
    },
    speed: random.below(8),
    shown: (["values", "q", "visits"] as const)[random.below(3)] ?? "q",
  };
}

test("an address gives back the view that it was made from", () => {
  const random = new Random(11);
  for (let i = 0; i < 200; i++) {
    const view = randomView(random);
    expect(parseGrid(paramsOf(gridPath(view)))).toEqual(view);
  }
});

test.each(PRESETS)("the address of $name names it", (preset) => {
  const view = withPreset(DEFAULT_VIEW, preset);
  expect(gridPath(view).length).toBeLessThan(40);
  expect(parseGrid(paramsOf(gridPath(view)))).toEqual(view);
  // An edited one is stored as a map.
  const edited = { ...view, world: withCell(view.world, 1, { kind: "goal", reward: 3.5 }) };
  expect(parseGrid(paramsOf(gridPath(edited)))).toEqual(edited);
});

test.each([
  "map=S",
  "map=SG/..x",
  "map=S./..&slip=nan&wind=9,-1,x&rewards=a:b,,3&limit=-5&alpha=&gamma=7&algo=dqn&speed=99&show=all&seed=-1",
  `map=${"S".repeat(500)}`,
  "map=SS/SS",
  "world=nowhere",
])("any address is a valid view: %s", (query) => {
  const view = parseGrid(new URLSearchParams(query));
  expect(view.world.cells.length).toBe(view.world.rows * view.world.columns);
  expect(view.world.cells[view.world.start]?.kind).toBe("empty");
  expect(view.settings.gamma).toBeLessThanOrEqual(1);
  expect(view.speed).toBeLessThan(8);
  expect(parseGrid(paramsOf(gridPath(view)))).toEqual(view);
});

test("the address of a bandit gives back its settings", () => {
  const views: BanditView[] = [
    { settings: DEFAULT_BANDIT, speed: 5 },
    { settings: { ...DEFAULT_BANDIT, kind: "gaussian", means: [-1.5, 0, 2], sigma: 0.5, epsilon: 0, exploration: 2, horizon: 500, repetitions: 7, seed: 3 }, speed: 0 },
  ];
  for (const view of views) expect(parseBandit(paramsOf(banditPath(view)))).toEqual(view);
  const broken = parseBandit(new URLSearchParams("mode=bandit&arms=0.5,2,-1,x&kind=coins&steps=1e9&sigma=0"));
  expect(broken.settings).toEqual({ ...DEFAULT_BANDIT, horizon: 10_000, sigma: 0.05 });
});

test("editing keeps exactly one start", () => {
  const world = worldOf(["S.", ".G"]);
  expect(withCell(world, 0, { kind: "wall", reward: 0 })).toBe(world);
  expect(mapOf(withCell(world, 3, "start"))).toEqual(["..", ".S"]);
  expect(mapOf(withCell(world, 1, { kind: "wall", reward: 0 }))).toEqual(["S#", ".G"]);
  expect(mapOf(resized(withCell(world, 3, "start"), 2, 3))).toEqual(["...", ".S."]);
  expect(mapOf(resized(worldOf(["..#", "..S"]), 2, 2))).toEqual(["..", ".S"]);
  expect(mapOf(cleared(world))).toEqual(["S.", ".."]);
});
