/** Experiments that show something: each sets the arms and the sliders. */
import { DEFAULT_SPEED } from "../pace";
import type { Suggestion } from "../Suggestions";
import { DEFAULT_BANDIT, type BanditSettings } from "./settings";
import type { BanditView } from "./view";

function viewOf(changes: Partial<BanditSettings>): BanditView {
  return { settings: { ...DEFAULT_BANDIT, ...changes }, speed: DEFAULT_SPEED };
}

const EASY = [0.1, 0.2, 0.9];
const CLOSE = [0.5, 0.52, 0.54, 0.56];

export const SUGGESTIONS: readonly Suggestion<BanditView>[] = [
  {
    title: "Can greed get stuck?",
    text: "With ε = 0, a good arm that pays nothing in its first pull is never tried again: look at the upper edge of the band. A little exploration cures it, at a price in every step.",
    choices: [
      { label: "ε = 0", view: viewOf({ epsilon: 0 }) },
      { label: "ε = 0.1", view: viewOf({ epsilon: 0.1 }) },
    ],
  },
  {
    title: "Straight or bent?",
    text: "Over many steps, the regret of ε-greedy is a straight line, while those of UCB1 and Thompson sampling bend: they grow like the logarithm of time.",
    choices: [{ label: "10,000 steps", view: viewOf({ means: EASY, horizon: 10_000, repetitions: 100 }) }],
  },
  {
    title: "Which problems are hard?",
    text: "Arms that are far apart are told apart in a few pulls. Arms that are almost equal need thousands, but confusing them costs little.",
    choices: [
      { label: "Far apart", view: viewOf({ means: EASY }) },
      { label: "Almost equal", view: viewOf({ means: CLOSE, horizon: 5000, repetitions: 100 }) },
    ],
  },
  {
    title: "How optimistic should it be?",
    text: "The bonus of UCB1 is made for the worst case. A smaller c is better in most repetitions; with none at all it is greedy, and gets stuck.",
    choices: [
      { label: "c = 1", view: viewOf({ exploration: 1 }) },
      { label: "c = 0.5", view: viewOf({ exploration: 0.5 }) },
      { label: "c = 0", view: viewOf({ exploration: 0 }) },
    ],
  },
];
