/** A grid world: what is on each cell, and the rules that hold everywhere. Pure functions. */

export type CellKind = "empty" | "wall" | "goal" | "pit";

export interface Cell {
  kind: CellKind;
  /** Reward for entering the cell; only goals and pits have one. */
  reward: number;
}

export interface World {
  rows: number;
  columns: number;
  /** Row by row, from the top left. */
  cells: readonly Cell[];
  /** Index of the cell in which episodes start. */
  start: number;
  /** Reward of every step that ends on an empty cell. */
  stepReward: number;
  /** Probability that a move goes to one of the two sides instead, half of it for each. */
  slip: number;
  /** Cells by which a move that leaves a column is blown upward, one number per column. */
  wind: readonly number[];
  /** Whether a pit ends the episode; otherwise it sends the agent back to the start. */
  pitEnds: boolean;
  /** Steps after which an episode is truncated. */
  maxSteps: number;
}

export const MIN_SIZE = 2;
export const MAX_ROWS = 12;
export const MAX_COLUMNS = 16;
export const MAX_WIND = 2;
export const MAX_REWARD = 100;
export const EMPTY: Cell = { kind: "empty", reward: 0 };
export const WALL: Cell = { kind: "wall", reward: 0 };

/** Letters of cells in maps, as Gymnasium's toy-text environments write them. */
export const LETTERS: Record<CellKind | "start", string> = { empty: ".", wall: "#", goal: "G", pit: "H", start: "S" };

export interface MapRules extends Partial<Pick<World, "stepReward" | "slip" | "wind" | "pitEnds" | "maxSteps">> {
  /** Reward of all goals. */
  goal?: number;
  /** Reward of all pits. */
  pit?: number;
}

/** Returns the world of a map such as `["S.H", "..G"]`. */
export function worldOf(map: readonly string[], rules: MapRules = {}): World {
  const columns = Math.max(...map.map((row) => row.length));
  const letters = map.flatMap((row) => [...row.padEnd(columns, LETTERS.empty)]);
  const { goal = 1, pit = -1 } = rules;
  const kinds: Record<string, Cell> = {
    [LETTERS.wall]: WALL,
    [LETTERS.goal]: { kind: "goal", reward: goal },
    [LETTERS.pit]: { kind: "pit", reward: pit },
  };
  return {
    rows: map.length,
    columns,
    cells: letters.map((letter) => kinds[letter] ?? EMPTY),
    start: Math.max(0, letters.indexOf(LETTERS.start)),
    stepReward: rules.stepReward ?? 0,
    slip: rules.slip ?? 0,
    wind: rules.wind ?? new Array<number>(columns).fill(0),
    pitEnds: rules.pitEnds ?? true,
    maxSteps: rules.maxSteps ?? 100,
  };
}

/** Returns the rows of a world's map. */
export function mapOf(world: World): string[] {
  const letter = (cell: Cell, i: number) => LETTERS[i === world.start ? "start" : cell.kind];
  return Array.from({ length: world.rows }, (_, row) =>
    Array.from({ length: world.columns }, (_, column) => {
      const i = row * world.columns + column;
      return letter(world.cells[i] ?? EMPTY, i);
    }).join(""),
  );
}

/** Returns the world with another cell. The start cannot be covered: it is moved by painting it elsewhere. */
export function withCell(world: World, index: number, brush: Cell | "start"): World {
  if (index < 0 || index >= world.cells.length) return world;
  if (brush === "start") return { ...world, start: index, cells: world.cells.map((cell, i) => (i === index ? EMPTY : cell)) };
  if (index === world.start) return world;
  return { ...world, cells: world.cells.map((cell, i) => (i === index ? brush : cell)) };
}

/** Returns the world with another size: cells outside are lost, new ones are empty, the start stays inside. */
export function resized(world: World, rows: number, columns: number): World {
  const at = (row: number, column: number) =>
    row < world.rows && column < world.columns ? (world.cells[row * world.columns + column] ?? EMPTY) : EMPTY;
  const [row, column] = position(world, world.start);
  const start = Math.min(row, rows - 1) * columns + Math.min(column, columns - 1);
  const cells = Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns));
  cells[start] = EMPTY;
  return { ...world, rows, columns, cells, start, wind: Array.from({ length: columns }, (_, i) => world.wind[i] ?? 0) };
}

/** Returns the world without walls, goals and pits. */
export function cleared(world: World): World {
  return { ...world, cells: world.cells.map(() => EMPTY), wind: world.wind.map(() => 0) };
}

/** Returns row and column of a cell. */
export function position(world: Pick<World, "columns">, index: number): [row: number, column: number] {
  return [Math.floor(index / world.columns), index % world.columns];
}

/** Returns whether entering the cell ends the episode. */
export function isTerminal(world: World, index: number): boolean {
  const kind = world.cells[index]?.kind;
  return kind === "goal" || (kind === "pit" && world.pitEnds);
}

/** Returns whether the agent can be on the cell when it chooses an action. */
export function isState(world: World, index: number): boolean {
  return world.cells[index]?.kind === "empty";
}

/** Returns whether two worlds are the same in everything. */
export function isSameWorld(a: World, b: World): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
