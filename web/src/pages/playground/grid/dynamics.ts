/** Transition probabilities of a grid world, and the environment with Gymnasium's semantics. */
import type { Random } from "../random";
import { isState, isTerminal, position, type World } from "./world";

/** In Gymnasium's order: FrozenLake has the same numbers. */
export const ACTIONS = ["left", "down", "right", "up"] as const;
export const ACTION_COUNT = ACTIONS.length;
const MOVES: readonly (readonly [rows: number, columns: number])[] = [[0, -1], [1, 0], [0, 1], [-1, 0]];

export interface Outcome {
  probability: number;
  /** Cell after the step. */
  next: number;
  reward: number;
  /** Whether a goal or a pit ends the episode here. */
  terminated: boolean;
}

/** Outcomes of every state and action: `model[state * 4 + action]`; empty for walls and terminal cells. */
export type Model = readonly (readonly Outcome[])[];

/** Returns the transition model of a world. Outcomes that lead to the same cell are one. */
export function modelOf(world: World): Model {
  return Array.from({ length: world.cells.length * ACTION_COUNT }, (_, i) => {
    const state = Math.floor(i / ACTION_COUNT);
    return isState(world, state) ? outcomes(world, state, i % ACTION_COUNT) : [];
  });
}

function outcomes(world: World, state: number, action: number): Outcome[] {
  const side = world.slip / 2;
  const directions: [number, number][] = [
    [action, 1 - world.slip],
    [(action + 1) % ACTION_COUNT, side],
    [(action + 3) % ACTION_COUNT, side],
  ];
  const found: Outcome[] = [];
  for (const [direction, probability] of directions) {
    if (probability <= 0) continue;
    const { next, reward, terminated } = moved(world, state, direction);
    const same = found.find((outcome) => outcome.next === next && outcome.reward === reward && outcome.terminated === terminated);
    if (same) same.probability += probability;
    else found.push({ probability, next, reward, terminated });
  }
  return found;
}

/** Returns what happens if the agent moves in a direction: first the move, then the wind of the column that it left,
 * as far as no wall or edge is in the way. Goals and pits that it is blown over do not count. */
function moved(world: World, state: number, direction: number): Omit<Outcome, "probability"> {
  const wind = world.wind[position(world, state)[1]] ?? 0;
  let cell = state;
  for (const step of [direction, ...new Array<number>(wind).fill(ACTIONS.indexOf("up"))]) cell = neighbor(world, cell, step);
  const { kind, reward } = world.cells[cell] ?? { kind: "empty", reward: 0 };
  if (isTerminal(world, cell)) return { next: cell, reward, terminated: true };
  if (kind === "pit") return { next: world.start, reward, terminated: false };
  return { next: cell, reward: world.stepReward, terminated: false };
}

/** Returns the cell in a direction; the same one at walls and at the edge. */
export function neighbor(world: World, cell: number, direction: number): number {
  const [rows, columns] = MOVES[direction] ?? [0, 0];
  const [row, column] = position(world, cell);
  const [toRow, toColumn] = [row + rows, column + columns];
  if (toRow < 0 || toRow >= world.rows || toColumn < 0 || toColumn >= world.columns) return cell;
  const next = toRow * world.columns + toColumn;
  return world.cells[next]?.kind === "wall" ? cell : next;
}

export interface StepResult {
  obs: number;
  reward: number;
  /** A goal or a pit ended the episode: there is no future reward. */
  terminated: boolean;
  /** The step limit cut the episode off: future reward is unknown, not zero. */
  truncated: boolean;
}

/** The grid world as an environment: `reset`, then `step` until terminated or truncated. */
export class GridEnv {
  state: number;
  /** Steps of the present episode. */
  steps = 0;
  private isOver = false;
  private model: Model;

  constructor(
    private world: World,
    private readonly random: Random,
  ) {
    this.model = modelOf(world);
    this.state = world.start;
  }

  /** Continues in another world, at its start. */
  setWorld(world: World): void {
    this.world = world;
    this.model = modelOf(world);
    this.reset();
  }

  reset(): number {
    this.state = this.world.start;
    this.steps = 0;
    this.isOver = false;
    return this.state;
  }

  step(action: number): StepResult {
    if (this.isOver) throw new Error("the episode has ended; call reset() before step()");
    const possible = this.model[this.state * ACTION_COUNT + action] ?? [];
    let outcome = possible[possible.length - 1];
    if (!outcome) throw new Error(`there is no action ${action} in cell ${this.state}`);
    if (possible.length > 1) {
      let rest = this.random.uniform();
      for (const one of possible) {
        rest -= one.probability;
        if (rest < 0) {
          outcome = one;
          break;
        }
      }
    }
    this.state = outcome.next;
    this.steps++;
    const truncated = !outcome.terminated && this.steps >= this.world.maxSteps;
    this.isOver = outcome.terminated || truncated;
    return { obs: outcome.next, reward: outcome.reward, terminated: outcome.terminated, truncated };
  }
}
