/** What the address of the grid world says. Pure functions. */
import { pathWith } from "../../../app/paths";
import { choiceParam, countParam, numberIn, numberParam, unlessDefault } from "../params";
import { DEFAULT_SPEED, SPEEDS } from "../pace";
import { PRESETS, type Preset } from "./presets";
import { ALGORITHMS, DEFAULT_ALPHA, DEFAULT_SETTINGS, type Settings } from "./settings";
import { isSameWorld, LETTERS, mapOf, MAX_COLUMNS, MAX_REWARD, MAX_ROWS, MAX_WIND, MIN_SIZE, worldOf, type World } from "./world";

export const SHOWN = ["values", "q", "visits"] as const;
export type Shown = (typeof SHOWN)[number];

export interface GridView {
  world: World;
  settings: Settings;
  /** Index into the speeds. */
  speed: number;
  shown: Shown;
}

const SHARE = [0, 1] as const;
export const LIMITS = {
  alpha: [0.01, 1],
  epsilon: SHARE,
  gamma: SHARE,
  lambda: SHARE,
  slip: [0, 0.9],
  stepReward: [-MAX_REWARD, MAX_REWARD],
  maxSteps: [10, 1000],
  seed: [0, 999_999],
} as const;
const FIRST = PRESETS[0] as Preset;

/** Returns what can be shown about an algorithm: planning visits no cells. */
export function shownOptions(algorithm: Settings["algorithm"]): readonly Shown[] {
  return algorithm === "value_iteration" ? SHOWN.filter((shown) => shown !== "visits") : SHOWN;
}

/** Returns the view with a preset: its world and discount. */
export function withPreset(view: GridView, preset: Preset): GridView {
  return { ...view, world: preset.world, settings: { ...view.settings, gamma: preset.gamma } };
}

export const DEFAULT_VIEW: GridView = withPreset(
  { world: FIRST.world, settings: DEFAULT_SETTINGS, speed: DEFAULT_SPEED, shown: "values" },
  PRESETS.find((preset) => preset.key === "cliff") ?? FIRST,
);

/** Returns the preset that a world is; undefined if it was changed. */
export function presetOf(world: World): Preset | undefined {
  return PRESETS.find((preset) => isSameWorld(preset.world, world));
}

/** Reads the view from the address. Values that are not valid count as missing. */
export function parseGrid(params: URLSearchParams): GridView {
  const preset = PRESETS.find((one) => one.key === params.get("world"));
  const world = preset?.world ?? parsedWorld(params) ?? DEFAULT_VIEW.world;
  const gamma = presetOf(world)?.gamma ?? DEFAULT_SETTINGS.gamma;
  const algorithm = choiceParam(params, "algo", ALGORITHMS, DEFAULT_SETTINGS.algorithm);
  return {
    world,
    settings: {
      algorithm,
      alpha: numberParam(params, "alpha", DEFAULT_ALPHA[algorithm], LIMITS.alpha),
      epsilon: numberParam(params, "epsilon", DEFAULT_SETTINGS.epsilon, LIMITS.epsilon),
      gamma: numberParam(params, "gamma", gamma, LIMITS.gamma),
      lambda: numberParam(params, "lambda", DEFAULT_SETTINGS.lambda, LIMITS.lambda),
      baseline: params.get("baseline") !== "0",
      seed: countParam(params, "seed", DEFAULT_SETTINGS.seed, LIMITS.seed),
    },
    speed: countParam(params, "speed", DEFAULT_SPEED, [0, SPEEDS.length - 1]),
    shown: choiceParam(params, "show", SHOWN, "values"),
  };
}

/** Returns the path of the page with this view; defaults are left out. */
export function gridPath({ world, settings, speed, shown }: GridView): string {
  const preset = presetOf(world);
  const gamma = preset?.gamma ?? DEFAULT_SETTINGS.gamma;
  return pathWith("/playground", {
    world: preset ? unlessDefault(preset.key, presetOf(DEFAULT_VIEW.world)?.key ?? "") : "",
    ...(preset ? {} : worldParams(world)),
    algo: unlessDefault(settings.algorithm, DEFAULT_SETTINGS.algorithm),
    alpha: unlessDefault(settings.alpha, DEFAULT_ALPHA[settings.algorithm]),
    epsilon: unlessDefault(settings.epsilon, DEFAULT_SETTINGS.epsilon),
    gamma: unlessDefault(settings.gamma, gamma),
    lambda: unlessDefault(settings.lambda, DEFAULT_SETTINGS.lambda),
    baseline: settings.baseline ? "" : "0",
    seed: unlessDefault(settings.seed, DEFAULT_SETTINGS.seed),
    speed: unlessDefault(speed, DEFAULT_SPEED),
    show: unlessDefault(shown, "values"),
  });
}

/** Defaults of a world in an address. */
const PLAIN = worldOf(["SG"]);
const GOAL = 1;
const PIT = -1;

function worldParams(world: World): Record<string, string> {
  const rewards = world.cells.flatMap(({ kind, reward }, i) => {
    const usual = kind === "goal" ? GOAL : kind === "pit" ? PIT : reward;
    return reward === usual ? [] : [`${i}:${reward}`];
  });
  return {
    map: mapOf(world).join("/").replaceAll(LETTERS.wall, "W"),
    rewards: rewards.join(","),
    step: unlessDefault(world.stepReward, PLAIN.stepReward),
    slip: unlessDefault(world.slip, PLAIN.slip),
    wind: world.wind.some((strength) => strength > 0) ? world.wind.join(",") : "",
    back: world.pitEnds ? "" : "1",
    limit: unlessDefault(world.maxSteps, PLAIN.maxSteps),
  };
}

function parsedWorld(params: URLSearchParams): World | null {
  const rows = (params.get("map") ?? "").replaceAll("W", LETTERS.wall).split("/");
  const columns = rows[0]?.length ?? 0;
  const isSized = rows.length >= MIN_SIZE && rows.length <= MAX_ROWS && columns >= MIN_SIZE && columns <= MAX_COLUMNS;
  if (!isSized || rows.some((row) => row.length !== columns || /[^.#GHS]/.test(row))) return null;
  const wind = (params.get("wind") ?? "").split(",");
  const world = worldOf(rows, {
    goal: GOAL,
    pit: PIT,
    stepReward: numberParam(params, "step", PLAIN.stepReward, LIMITS.stepReward),
    slip: numberParam(params, "slip", PLAIN.slip, LIMITS.slip),
    wind: Array.from({ length: columns }, (_, i) => Math.round(numberIn(wind[i] ?? "", 0, MAX_WIND, 0))),
    pitEnds: params.get("back") !== "1",
    maxSteps: countParam(params, "limit", PLAIN.maxSteps, LIMITS.maxSteps),
  });
  const given = new Map((params.get("rewards") ?? "").split(",").map((item): [string, string] => {
    const [index = "", reward = ""] = item.split(":");
    return [index, reward];
  }));
  const cells = world.cells.map((cell, i) => {
    if (i === world.start) return { kind: "empty", reward: 0 } as const;
    if (cell.kind !== "goal" && cell.kind !== "pit") return cell;
    return { ...cell, reward: numberIn(given.get(String(i)) ?? "", -MAX_REWARD, MAX_REWARD, cell.reward) };
  });
  return { ...world, cells };
}
