/** Planning with a known model: value iteration, exact values of policies, paths of greedy policies. */
import { ACTION_COUNT, type Model } from "./dynamics";
import { isState, type World } from "./world";

/** Probabilities of the actions in every state: `policy[state * 4 + action]`. */
export type Policy = ArrayLike<number>;

/** Returns the expected reward plus discounted value after an action. */
export function backup(model: Model, values: ArrayLike<number>, state: number, action: number, gamma: number): number {
  let sum = 0;
  for (const { probability, next, reward, terminated } of model[state * ACTION_COUNT + action] ?? []) {
    sum += probability * (reward + (terminated ? 0 : gamma * (values[next] ?? 0)));
  }
  return sum;
}

/** Runs one sweep of value iteration: every state is updated from the values before the sweep. Writes the values and
 * the action values in place; returns the largest change of a value. */
export function sweep(world: World, model: Model, values: Float64Array, q: Float64Array, gamma: number): number {
  const before = values.slice();
  let largest = 0;
  for (let state = 0; state < world.cells.length; state++) {
    if (!isState(world, state)) continue;
    let best = -Infinity;
    for (let action = 0; action < ACTION_COUNT; action++) {
      const value = backup(model, before, state, action, gamma);
      q[state * ACTION_COUNT + action] = value;
      if (value > best) best = value;
    }
    values[state] = best;
    largest = Math.max(largest, Math.abs(best - (before[state] ?? 0)));
  }
  return largest;
}

/** Returns the exact values of a policy without a step limit: the solution of (I - gamma P) v = r. */
export function solvedValues(world: World, model: Model, policy: Policy, gamma: number): Float64Array {
  const size = world.cells.length;
  const matrix = Array.from({ length: size }, (_, i) => {
    const row = new Float64Array(size + 1);
    row[i] = 1;
    return row;
  });
  for (let state = 0; state < size; state++) {
    const row = matrix[state] as Float64Array;
    for (let action = 0; action < ACTION_COUNT; action++) {
      const chance = policy[state * ACTION_COUNT + action] ?? 0;
      if (!chance) continue;
      for (const { probability, next, reward, terminated } of model[state * ACTION_COUNT + action] ?? []) {
        row[size] = (row[size] ?? 0) + chance * probability * reward;
        if (!terminated) row[next] = (row[next] ?? 0) - gamma * chance * probability;
      }
    }
  }
  return eliminated(matrix);
}

/** Solves a linear system in place by elimination with pivots; each row ends with its right-hand side. */
function eliminated(matrix: Float64Array[]): Float64Array {
  const size = matrix.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(matrix[row]?.[column] ?? 0) > Math.abs(matrix[pivot]?.[column] ?? 0)) pivot = row;
    }
    [matrix[column], matrix[pivot]] = [matrix[pivot] as Float64Array, matrix[column] as Float64Array];
    const top = matrix[column] as Float64Array;
    for (let row = 0; row < size; row++) {
      const line = matrix[row] as Float64Array;
      const factor = (line[column] ?? 0) / (top[column] ?? 1);
      if (row === column || factor === 0) continue;
      for (let i = column; i <= size; i++) line[i] = (line[i] ?? 0) - factor * (top[i] ?? 0);
    }
  }
  return Float64Array.from(matrix, (row, i) => (row[size] ?? 0) / (row[i] ?? 1));
}

export interface Forecast {
  /** Expected sum of rewards of an episode, undiscounted. */
  meanReturn: number;
  /** Expected number of steps of an episode. */
  meanLength: number;
  /** Probability that an episode ends at a goal. */
  goal: number;
}

/** Returns what whole episodes under a policy are like, with the step limit: exact, by one backup per step. */
export function forecast(world: World, model: Model, policy: Policy): Forecast {
  const moves = movesOf(world, model, policy);
  const size = world.cells.length;
  let [now, next] = [threeOf(size), threeOf(size)];
  for (let left = 0; left < world.maxSteps; left++) {
    for (const values of next) values.fill(0);
    for (const { state, to, weight, reward, goal } of moves) {
      const isOver = to < 0;
      next[0][state]! += weight * (reward + (isOver ? 0 : now[0][to]!));
      next[1][state]! += weight * (1 + (isOver ? 0 : now[1][to]!));
      next[2][state]! += weight * (isOver ? goal : now[2][to]!);
    }
    const isSame = next.every((values, i) => values.every((value, state) => value === now[i]![state]));
    [now, next] = [next, now];
    if (isSame) break; // further steps change nothing: every episode has ended
  }
  const { start } = world;
  return { meanReturn: now[0][start] ?? 0, meanLength: now[1][start] ?? 0, goal: now[2][start] ?? 0 };
}

interface Move {
  state: number;
  /** The next cell; -1 if the episode ends. */
  to: number;
  weight: number;
  reward: number;
  /** 1 if the episode ends at a goal. */
  goal: number;
}

/** Returns all outcomes that a policy can have. */
function movesOf(world: World, model: Model, policy: Policy): Move[] {
  return model.flatMap((outcomes, i) => {
    const chosen = policy[i] ?? 0;
    if (!chosen) return [];
    return outcomes.map(({ probability, next, reward, terminated }) => ({
      state: Math.floor(i / ACTION_COUNT),
      to: terminated ? -1 : next,
      weight: chosen * probability,
      reward,
      goal: Number(world.cells[next]?.kind === "goal"),
    }));
  });
}

function threeOf(size: number): [returns: Float64Array, lengths: Float64Array, goals: Float64Array] {
  return [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
}

/** Differences of action values below this share of the largest value count as ties. */
const TIE = 1e-9;

/** Returns the actions with the highest value in a state. */
export function bestActions(q: ArrayLike<number>, state: number): number[] {
  let [best, size] = [-Infinity, 0];
  for (let action = 0; action < ACTION_COUNT; action++) {
    const value = q[state * ACTION_COUNT + action] ?? 0;
    best = Math.max(best, value);
    size = Math.max(size, Math.abs(value));
  }
  const found: number[] = [];
  for (let action = 0; action < ACTION_COUNT; action++) {
    if ((q[state * ACTION_COUNT + action] ?? 0) >= best - TIE * size) found.push(action);
  }
  return found;
}

/** Returns the policy that takes the best action; of several, the first one. */
export function greedyPolicy(q: ArrayLike<number>): Float64Array {
  const policy = new Float64Array(q.length);
  for (let state = 0; state * ACTION_COUNT < q.length; state++) {
    policy[state * ACTION_COUNT + (bestActions(q, state)[0] ?? 0)] = 1;
  }
  return policy;
}

export interface Path {
  /** Cells from the start on. */
  cells: number[];
  end: "goal" | "pit" | "loop";
}

/** Returns the path from the start if every move has its likeliest outcome and actions are the best ones. Among equally
 * good actions, one that leads to a new cell comes first. */
export function greedyPath(world: World, model: Model, q: ArrayLike<number>): Path {
  const cells = [world.start];
  const seen = new Set(cells);
  for (let state = world.start; ; ) {
    const options = bestActions(q, state).map((action) => likeliest(model, state, action));
    const outcome = options.find((option) => option && !seen.has(option.next)) ?? options[0];
    if (!outcome || seen.has(outcome.next)) return { cells, end: "loop" };
    cells.push(outcome.next);
    seen.add(outcome.next);
    if (outcome.terminated) return { cells, end: world.cells[outcome.next]?.kind === "goal" ? "goal" : "pit" };
    state = outcome.next;
  }
}

function likeliest(model: Model, state: number, action: number) {
  const outcomes = model[state * ACTION_COUNT + action] ?? [];
  return outcomes.reduce<(typeof outcomes)[number] | undefined>(
    (best, outcome) => (!best || outcome.probability > best.probability + 1e-12 ? outcome : best),
    undefined,
  );
}
