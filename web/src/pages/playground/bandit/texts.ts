/** Explanations for learners: how each algorithm chooses an arm. */
import type { BanditPolicy } from "./settings";

export const EXPLANATIONS: Record<BanditPolicy, { text: string; formula: string }> = {
  epsilon_greedy: {
    text: "Pulls the arm with the best mean so far, and with probability ε a random one. It never stops exploring, so its regret grows by the same amount in every step for ever.",
    formula: "arm = argmax mean(a), or random with probability ε",
  },
  ucb: {
    text: "Optimism: an arm is worth its mean plus a bonus for being unknown. The bonus grows slowly with time and shrinks with every pull, so bad arms are pulled less and less often. The bonus of the paper has c = 1; rewards from 0 to 1 rarely need that much.",
    formula: "arm = argmax mean(a) + c · √(2 ln t / n(a))",
  },
  thompson: {
    text: "Draws a plausible mean for each arm from what it believes (the posterior), and pulls the arm with the highest draw. An arm is pulled as often as it may still be the best one.",
    formula: "arm = argmax draw(a), draw(a) ~ posterior of mean(a)",
  },
};

export const INTERVALS: Record<BanditPolicy, string> = {
  epsilon_greedy: "95 % interval",
  ucb: "mean ± bonus",
  thompson: "95 % interval",
};

export const REGRET_HELP = "Reward that was lost on average, compared with always pulling the best arm. Bands: 80 % of the repetitions.";
