/** Explanations for learners: what an algorithm does, and what a number means. */
import type { Algorithm, NumberSetting } from "./settings";
import type { Shown } from "./view";

export interface Explanation {
  text: string;
  /** The update in readable text. */
  formula: string;
  legend: string;
}

export const EXPLANATIONS: Record<Algorithm, Explanation> = {
  value_iteration: {
    text: "Planning: the algorithm knows every transition and reward, so it needs no agent. One sweep sets the value of each cell to the best expected reward plus the discounted value of the next cell. Watch the values spread from the goal, one cell per sweep.",
    formula: "V(s) ← maxₐ Σ p(s′ | s, a) · [r + γ V(s′)]",
    legend: "s cell, a action, s′ next cell, r reward, p probability",
  },
  q_learning: {
    text: "Learning from experience: after each step, the value of the action moves a little toward the reward plus the best value of the next cell. It learns about the greedy policy while it behaves differently (off-policy), so it ignores the cost of its own random steps.",
    formula: "Q(s, a) ← Q(s, a) + α [r + γ maxₐ′ Q(s′, a′) − Q(s, a)]",
    legend: "s, a cell and action, r reward, s′ next cell; the bracket is the TD error",
  },
  sarsa: {
    text: "Like Q-learning, but the target uses the action a′ that is really taken next (on-policy). The values therefore include the cost of exploring, and near a cliff SARSA learns to keep its distance.",
    formula: "Q(s, a) ← Q(s, a) + α [r + γ Q(s′, a′) − Q(s, a)]",
    legend: "the letters of the update give SARSA its name: s, a, r, s′, a′",
  },
  reinforce: {
    text: "A policy gradient method: the policy itself is learned, as a softmax over one preference θ per action. After an episode, actions that were followed by more return than expected become likelier. It needs no exploration rate, because the policy is random until it is sure.",
    formula: "θ ← θ + α Σₜ (Gₜ − b(sₜ)) ∇ log π(aₜ | sₜ)",
    legend: "Gₜ return from step t on, b baseline, π policy",
  },
};

export interface NumberText {
  label: string;
  symbol: string;
  help: string;
}

export const NUMBER_TEXTS: Record<NumberSetting, NumberText> = {
  alpha: { label: "Step size", symbol: "α", help: "How far one experience moves the estimate. Large steps learn fast and never settle if outcomes are random." },
  epsilon: { label: "Exploration", symbol: "ε", help: "Probability of a random action. Without any, the agent repeats the first thing that worked." },
  gamma: { label: "Discount", symbol: "γ", help: "Weight of rewards one step later. Below 1, near rewards count more than far ones; at 1, a policy that never ends has no finite value." },
  lambda: { label: "Traces", symbol: "λ", help: "How far one reward is passed back along the path just taken. 0 updates only the last step." },
};

export const SHOWN_LABELS: Record<Shown, string> = { values: "Values", q: "Action values", visits: "Visits" };

export const BASELINE_HELP = "Subtracts the learned value of the cell from the return. The mean of the gradient stays the same, its noise declines.";
