/** Runs for tests. */

import type { RunSummary } from "../../api/types";

let count = 0;

/** Returns a finished run with these fields. */
export function testRun(fields: Partial<RunSummary> = {}): RunSummary {
  count += 1;
  return {
    id: `run${count}`,
    path: `/runs/run${count}`,
    status: "finished",
    created: 1_000 + count,
    problem: "",
    name: "",
    preset: "CartPole-v1:ppo",
    env: "CartPole-v1",
    variant: "ppo",
    algo: "ppo",
    seed: 0,
    reason: "",
    solved: null,
    confirmed: true,
    score: null,
    threshold: null,
    clocks: {},
    learning: null,
    best_step: null,
    best_score: null,
    start_score: null,
    doubts: [],
    latest_step: null,
    progress: null,
    remaining_seconds: null,
    steps_per_second: null,
    curve: [],
    n_alerts: 0,
    parent: null,
    group: null,
    group_name: "",
    tags: [],
    note: "",
    host: "",
    updated: 0,
    bytes: null,
    ...fields,
  };
}

/** Returns a score of one episode, which has no interval. */
export function testScore(mean: number): NonNullable<RunSummary["score"]> {
  return {
    mean,
    low: Number.NEGATIVE_INFINITY,
    high: Number.POSITIVE_INFINITY,
    episodes: 1,
    iqm: null,
    env_steps: null,
    role: "",
    planned: null,
    missing: "",
    kind: "confirmed",
    exact: false,
    caveat: "too few episodes",
    rank: [0, mean, mean],
  };
}
