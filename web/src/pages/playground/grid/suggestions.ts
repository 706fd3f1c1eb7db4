/** Experiments that show something: each sets the world, the algorithm and the sliders. */
import type { Suggestion } from "../Suggestions";
import { PRESETS } from "./presets";
import { withAlgorithm, type Algorithm, type Settings } from "./settings";
import { DEFAULT_VIEW, withPreset, type GridView } from "./view";

function viewOf(key: string, algorithm: Algorithm, changes: Partial<Settings> & { slip?: number; speed?: number } = {}): GridView {
  const preset = PRESETS.find((one) => one.key === key);
  if (!preset) throw new Error(`there is no preset ${key}`);
  const { slip, speed, ...settings } = changes;
  const view = withPreset(DEFAULT_VIEW, preset);
  return {
    ...view,
    world: slip === undefined ? view.world : { ...view.world, slip },
    settings: { ...withAlgorithm(view.settings, algorithm), ...settings },
    speed: speed ?? view.speed,
  };
}

const FAST = 6;

export const SUGGESTIONS: readonly Suggestion<GridView>[] = [
  {
    title: "Safe or short?",
    text: "Both explore with ε = 0.1 on the cliff. Q-learning finds the shortest path and keeps falling off it; SARSA walks along the top and earns more while it learns. Compare the curves.",
    choices: [
      { label: "Q-learning", view: viewOf("cliff", "q_learning", { alpha: 0.1, speed: FAST }) },
      { label: "SARSA", view: viewOf("cliff", "sarsa", { alpha: 0.1, speed: FAST }) },
    ],
  },
  {
    title: "How do values spread?",
    text: "Planning needs one sweep per cell of distance. Then draw a wall across the path, and plan again: only what lies behind it changes.",
    choices: [{ label: "Sweep by sweep", view: viewOf("maze", "value_iteration", { speed: 1 }) }],
  },
  {
    title: "What do traces change?",
    text: "Without traces, the first success teaches one cell. With λ = 0.9 it teaches the whole path, and the agent needs fewer episodes.",
    choices: [
      { label: "λ = 0", view: viewOf("maze", "q_learning", { lambda: 0 }) },
      { label: "λ = 0.9", view: viewOf("maze", "q_learning", { lambda: 0.9 }) },
    ],
  },
  {
    title: "Is the bridge worth it?",
    text: "A reward of 10 is behind the bridge, a reward of 1 is at hand. On firm ground crossing pays; on slippery ground the agent turns around. Where is the limit?",
    choices: [
      { label: "Firm", view: viewOf("bridge", "value_iteration", { slip: 0, speed: 2 }) },
      { label: "Slippery", view: viewOf("bridge", "value_iteration", { slip: 0.3, speed: 2 }) },
    ],
  },
  {
    title: "Luck and step size",
    text: "On the ice, the same action has different outcomes. Large steps follow the last outcome and the arrows keep flickering; small steps average over many.",
    choices: [
      { label: "α = 0.9", view: viewOf("lake", "q_learning", { alpha: 0.9, speed: FAST }) },
      { label: "α = 0.05", view: viewOf("lake", "q_learning", { alpha: 0.05, epsilon: 0.3, speed: FAST }) },
    ],
  },
  {
    title: "Why a baseline?",
    text: "In the wind every return is negative: without a baseline, REINFORCE makes every action that it tries less likely. Compared with the expected return, half of them are good.",
    choices: [
      { label: "Without", view: viewOf("windy", "reinforce", { baseline: false, alpha: 0.02, gamma: 0.95, speed: FAST }) },
      { label: "With", view: viewOf("windy", "reinforce", { baseline: true, alpha: 0.02, gamma: 0.95, speed: FAST }) },
    ],
  },
  {
    title: "Why does it stand still?",
    text: "Before it has seen the goal, REINFORCE learns that the cliff is bad and that not moving is safe. It then walks against the edge of the world until the step limit: a local optimum.",
    choices: [{ label: "REINFORCE on the cliff", view: viewOf("cliff", "reinforce", { gamma: 0.95, speed: FAST }) }],
  },
];
