/** What is chosen about learning in the grid world. */

export const ALGORITHMS = ["value_iteration", "q_learning", "sarsa", "reinforce"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export const ALGORITHM_NAMES: Record<Algorithm, string> = {
  value_iteration: "Value iteration",
  q_learning: "Q-learning",
  sarsa: "SARSA",
  reinforce: "REINFORCE",
};

export interface Settings {
  algorithm: Algorithm;
  /** Step size of updates. */
  alpha: number;
  /** Probability of a random action. */
  epsilon: number;
  /** Discount of future rewards. */
  gamma: number;
  /** Decay of eligibility traces; 0 updates only the last state and action. */
  lambda: number;
  /** Whether REINFORCE subtracts the learned value of the state from the return. */
  baseline: boolean;
  /** Seed of all random numbers. */
  seed: number;
}

/** Step sizes that work in all presets. REINFORCE steps along a whole episode, so its steps are smaller. */
export const DEFAULT_ALPHA: Record<Algorithm, number> = { value_iteration: 0.5, q_learning: 0.5, sarsa: 0.5, reinforce: 0.1 };

export const DEFAULT_SETTINGS: Settings = {
  algorithm: "q_learning",
  alpha: DEFAULT_ALPHA.q_learning,
  epsilon: 0.1,
  gamma: 0.95,
  lambda: 0,
  baseline: true,
  seed: 1,
};

/** The part of the settings that is a number on a slider. */
export type NumberSetting = "alpha" | "epsilon" | "gamma" | "lambda";

/** Which numbers an algorithm uses. */
export const USED: Record<Algorithm, readonly NumberSetting[]> = {
  value_iteration: ["gamma"],
  q_learning: ["alpha", "epsilon", "gamma", "lambda"],
  sarsa: ["alpha", "epsilon", "gamma", "lambda"],
  reinforce: ["alpha", "gamma"],
};

/** Returns the settings with another algorithm; a step size that was the default one of the old algorithm becomes that
 * of the new one. */
export function withAlgorithm(settings: Settings, algorithm: Algorithm): Settings {
  const isDefault = settings.alpha === DEFAULT_ALPHA[settings.algorithm];
  return { ...settings, algorithm, alpha: isDefault ? DEFAULT_ALPHA[algorithm] : settings.alpha };
}

/** Returns the settings that were used, as a label for a curve: `SARSA, α 0.5, ε 0.1, γ 0.95`. */
export function settingsLabel(settings: Settings): string {
  const symbols: Record<NumberSetting, string> = { alpha: "α", epsilon: "ε", gamma: "γ", lambda: "λ" };
  const numbers = USED[settings.algorithm]
    .filter((name) => name !== "lambda" || settings.lambda > 0)
    .map((name) => `${symbols[name]} ${settings[name]}`);
  return [ALGORITHM_NAMES[settings.algorithm], ...numbers].join(", ");
}
