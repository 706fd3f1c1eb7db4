/** What the address of the bandit says. Pure functions. */
import { pathWith } from "../../../app/paths";
import { choiceParam, countParam, numberIn, numberParam, unlessDefault } from "../params";
import { DEFAULT_SPEED, SPEEDS } from "../pace";
import { DEFAULT_BANDIT, MAX_ARMS, meanRange, MIN_ARMS, withKind, type BanditSettings } from "./settings";

export interface BanditView {
  settings: BanditSettings;
  /** Index into the speeds. */
  speed: number;
}

export const LIMITS = {
  sigma: [0.05, 3],
  epsilon: [0, 1],
  exploration: [0, 3],
  horizon: [100, 10_000],
  repetitions: [1, 1000],
  seed: [0, 999_999],
} as const;

/** Reads the view from the address. Values that are not valid count as missing. */
export function parseBandit(params: URLSearchParams): BanditView {
  const kind = choiceParam(params, "kind", ["gaussian", "bernoulli"], DEFAULT_BANDIT.kind);
  const usual = withKind(DEFAULT_BANDIT, kind);
  return {
    settings: {
      kind,
      means: parsedMeans(params.get("arms"), kind) ?? usual.means,
      sigma: numberParam(params, "sigma", usual.sigma, LIMITS.sigma),
      epsilon: numberParam(params, "epsilon", usual.epsilon, LIMITS.epsilon),
      exploration: numberParam(params, "c", usual.exploration, LIMITS.exploration),
      horizon: countParam(params, "steps", usual.horizon, LIMITS.horizon),
      repetitions: countParam(params, "repetitions", usual.repetitions, LIMITS.repetitions),
      seed: countParam(params, "seed", usual.seed, LIMITS.seed),
    },
    speed: countParam(params, "speed", DEFAULT_SPEED, [0, SPEEDS.length - 1]),
  };
}

function parsedMeans(text: string | null, kind: BanditSettings["kind"]): number[] | null {
  const [low, high] = meanRange(kind);
  const means = (text ?? "").split(",").map((part) => numberIn(part, low, high, NaN));
  return means.length >= MIN_ARMS && means.length <= MAX_ARMS && means.every(Number.isFinite) ? means : null;
}

/** Returns the path of the page with this view; defaults are left out. */
export function banditPath({ settings, speed }: BanditView): string {
  const usual = withKind(DEFAULT_BANDIT, settings.kind);
  return pathWith("/playground", {
    mode: "bandit",
    kind: unlessDefault(settings.kind, DEFAULT_BANDIT.kind),
    arms: unlessDefault(settings.means.join(","), usual.means.join(",")),
    sigma: unlessDefault(settings.sigma, usual.sigma),
    epsilon: unlessDefault(settings.epsilon, usual.epsilon),
    c: unlessDefault(settings.exploration, usual.exploration),
    steps: unlessDefault(settings.horizon, usual.horizon),
    repetitions: unlessDefault(settings.repetitions, usual.repetitions),
    seed: unlessDefault(settings.seed, usual.seed),
    speed: unlessDefault(speed, DEFAULT_SPEED),
  });
}
