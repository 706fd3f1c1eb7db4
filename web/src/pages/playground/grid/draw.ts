/** Draws the board: cells, values or action values or visits, arrows, the greedy path, the agent. */
import { resolved } from "../../../chart/colors";
import { formatShort, rounded } from "../../../ui/numbers";
import { ACTION_COUNT } from "./dynamics";
import type { Path } from "./planning";
import type { Session } from "./session";
import type { Shown } from "./view";
import { EMPTY, isState, position } from "./world";

export interface BoardColors {
  background: string;
  border: string;
  text: string;
  muted: string;
  wall: string;
  goal: string;
  goalText: string;
  pit: string;
  pitText: string;
  positive: string;
  negative: string;
  visits: string;
  agent: string;
}

export function boardColors(theme: "light" | "dark"): BoardColors {
  const color = (name: string) => resolved(`var(--${name})`, theme);
  return {
    background: color("bg"),
    border: color("border"),
    text: color("text"),
    muted: color("muted"),
    wall: color("border-strong"),
    goal: color("bg-good"),
    goalText: color("good"),
    pit: color("bg-bad"),
    pitText: color("bad"),
    positive: color("series-0"),
    negative: color("series-1"),
    visits: color("series-6"),
    agent: color("accent"),
  };
}

/** Strongest share of a heat color, so that text on it stays readable. */
const STRONGEST = 0.5;
/** Pixels of a cell that has room for a number, and for one per action. */
const ROOM_FOR_VALUE = 40;
const ROOM_FOR_ACTIONS = 58;
/** Actions below this share of the likeliest one have no arrow. */
const SMALLEST_ARROW = 0.04;
const WALL_STRENGTH = 0.6;
const CENTERS: readonly (readonly [x: number, y: number])[] = [[-1, 0], [0, 1], [1, 0], [0, -1]];

/** Draws everything. `cell`: size of a cell in pixels of the context. */
export function drawBoard(ctx: CanvasRenderingContext2D, cell: number, session: Session, shown: Shown, path: Path, colors: BoardColors): void {
  const { world } = session;
  const scale = shown === "visits" ? maxOf(session.visits) : largest(session, shown);
  const places = world.cells.map((_, i): Place => {
    const [row, column] = position(world, i);
    return { x: column * cell, y: row * cell, size: cell };
  });
  ctx.clearRect(0, 0, world.columns * cell, world.rows * cell);
  ctx.textAlign = "center";
  places.forEach((place, i) => drawGround(ctx, place, session, i, shown, scale, colors));
  // Below texts and arrows, so that they stay readable.
  if (path.end === "goal") drawPath(ctx, cell, path.cells.map((i) => position(world, i)), colors.agent);
  places.forEach((place, i) => drawTexts(ctx, place, session, i, shown, colors));
  if (shown !== "q") drawArrows(ctx, cell, session, colors);
  if (session.agent !== null) drawAgent(ctx, cell, position(world, session.agent), colors);
}

interface Place {
  x: number;
  y: number;
  size: number;
}

/** Fills a cell with the color of what is on it, or of its value. */
function drawGround(ctx: CanvasRenderingContext2D, place: Place, session: Session, index: number, shown: Shown, scale: number, colors: BoardColors): void {
  const { kind } = session.world.cells[index] ?? EMPTY;
  fill(ctx, place, kind === "goal" ? colors.goal : kind === "pit" ? colors.pit : colors.background, 1);
  if (kind === "wall") fill(ctx, place, colors.wall, WALL_STRENGTH);
  if (kind === "empty" && shown === "q") drawTriangles(ctx, place, session, index, scale, colors);
  else if (kind === "empty") {
    const isVisits = shown === "visits";
    const value = isVisits ? (session.visits[index] ?? 0) : session.value(index);
    // Visits differ by orders of magnitude: the root shows the rare ones too.
    const strength = isVisits ? Math.sqrt(value / scale) : Math.abs(value) / scale;
    fill(ctx, place, isVisits ? colors.visits : value > 0 ? colors.positive : colors.negative, strength * STRONGEST);
  }
  ctx.strokeStyle = colors.border;
  ctx.lineWidth = 1;
  ctx.strokeRect(place.x + 0.5, place.y + 0.5, place.size, place.size);
}

function drawTexts(ctx: CanvasRenderingContext2D, place: Place, session: Session, index: number, shown: Shown, colors: BoardColors): void {
  const { kind, reward } = session.world.cells[index] ?? EMPTY;
  if (kind === "goal" || kind === "pit") {
    drawText(ctx, place, 0.5, `${reward > 0 ? "+" : ""}${formatShort(reward)}`, kind === "goal" ? colors.goalText : colors.pitText, 14, "bold");
  } else if (kind === "empty" && shown === "q") drawActionTexts(ctx, place, session, index, colors);
  else if (kind === "empty" && place.size >= ROOM_FOR_VALUE) {
    const text = shown === "visits" ? formatShort(session.visits[index] ?? 0) : valueText(session.value(index));
    drawText(ctx, place, 0.86, text, colors.text, 11);
  }
  if (index === session.world.start && place.size >= 24) drawCorner(ctx, place, "S", colors.muted);
}

/** Returns a value with as many digits as fit into a cell. */
export function valueText(value: number): string {
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  return rounded(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function drawTriangles(ctx: CanvasRenderingContext2D, { x, y, size }: Place, session: Session, state: number, scale: number, colors: BoardColors): void {
  const [middleX, middleY] = [x + size / 2, y + size / 2];
  for (let action = 0; action < ACTION_COUNT; action++) {
    const [dx, dy] = CENTERS[action] ?? [0, 0];
    const value = session.actionValue(state, action);
    ctx.beginPath();
    ctx.moveTo(middleX, middleY);
    ctx.lineTo(middleX + ((dx - dy) * size) / 2, middleY + ((dx + dy) * size) / 2);
    ctx.lineTo(middleX + ((dx + dy) * size) / 2, middleY + ((dy - dx) * size) / 2);
    ctx.closePath();
    ctx.fillStyle = value > 0 ? colors.positive : colors.negative;
    ctx.globalAlpha = (Math.abs(value) / scale) * STRONGEST;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colors.border;
    ctx.stroke();
  }
}

/** Writes the value of each action into its triangle, the best ones bold; small cells have a dot for the best ones. */
function drawActionTexts(ctx: CanvasRenderingContext2D, { x, y, size }: Place, session: Session, state: number, colors: BoardColors): void {
  const best = session.arrows(state);
  const highest = Math.max(...best);
  for (let action = 0; action < ACTION_COUNT; action++) {
    const [dx, dy] = CENTERS[action] ?? [0, 0];
    const isBest = highest > 0 && best[action] === highest;
    if (size >= ROOM_FOR_ACTIONS) {
      const place = { x: x + dx * size * 0.27, y: y + dy * size * 0.36, size };
      drawText(ctx, place, 0.5, valueText(session.actionValue(state, action)), colors.text, 10, isBest ? "bold" : "normal");
    } else if (isBest) {
      ctx.fillStyle = colors.text;
      ctx.fillRect(x + size / 2 + dx * size * 0.36 - 1.5, y + size / 2 + dy * size * 0.36 - 1.5, 3, 3);
    }
  }
}

function drawArrows(ctx: CanvasRenderingContext2D, cell: number, session: Session, colors: BoardColors): void {
  const { world } = session;
  ctx.lineCap = ctx.lineJoin = "round";
  for (let state = 0; state < world.cells.length; state++) {
    if (!isState(world, state)) continue;
    const [row, column] = position(world, state);
    const arrows = session.arrows(state);
    const highest = Math.max(...arrows);
    const [x, y] = [(column + 0.5) * cell, (row + (cell >= ROOM_FOR_VALUE ? 0.4 : 0.5)) * cell];
    const shares = [...arrows].map((share) => (highest > 0 && share > SMALLEST_ARROW * highest ? share / highest : 0));
    // A single arrow is centered, several ones start in the center.
    const back = shares.filter((share) => share > 0).length === 1 ? 0.5 : 0;
    shares.forEach((share, action) => {
      if (share > 0) drawArrow(ctx, x, y, CENTERS[action] ?? [0, 0], cell * (0.3 + 0.1 * back) * share, back, colors.text);
    });
  }
}

/** Draws an arrow. `back`: share of its length that is behind the point. */
function drawArrow(ctx: CanvasRenderingContext2D, x: number, y: number, [dx, dy]: readonly [number, number], length: number, back: number, color: string): void {
  const head = Math.max(2, length * 0.4);
  const [fromX, fromY] = [x - dx * length * back, y - dy * length * back];
  const [tipX, tipY] = [fromX + dx * length, fromY + dy * length];
  ctx.strokeStyle = color;
  ctx.lineWidth = Math.max(1.2, length / 9);
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(tipX, tipY);
  ctx.moveTo(tipX - dx * head - dy * head * 0.7, tipY - dy * head - dx * head * 0.7);
  ctx.lineTo(tipX, tipY);
  ctx.lineTo(tipX - dx * head + dy * head * 0.7, tipY - dy * head + dx * head * 0.7);
  ctx.stroke();
}

function drawPath(ctx: CanvasRenderingContext2D, cell: number, places: readonly (readonly [row: number, column: number])[], color: string): void {
  ctx.strokeStyle = color;
  ctx.globalAlpha = 0.3;
  ctx.lineWidth = cell * 0.14;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.beginPath();
  const middle = cell >= ROOM_FOR_VALUE ? 0.4 : 0.5;
  for (const [row, column] of places) ctx.lineTo((column + 0.5) * cell, (row + middle) * cell);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawAgent(ctx: CanvasRenderingContext2D, cell: number, [row, column]: readonly [number, number], colors: BoardColors): void {
  ctx.beginPath();
  ctx.arc((column + 0.5) * cell, (row + (cell >= ROOM_FOR_VALUE ? 0.4 : 0.5)) * cell, cell * 0.19, 0, 2 * Math.PI);
  ctx.fillStyle = colors.agent;
  ctx.fill();
  ctx.strokeStyle = colors.background;
  ctx.lineWidth = 2;
  ctx.stroke();
}

function drawCorner(ctx: CanvasRenderingContext2D, { x, y }: Place, text: string, color: string): void {
  ctx.font = "bold 11px system-ui, sans-serif";
  ctx.textBaseline = "top";
  ctx.fillStyle = color;
  ctx.fillText(text, x + 9, y + 4);
}

function drawText(ctx: CanvasRenderingContext2D, { x, y, size }: Place, at: number, text: string, color: string, height: number, weight = "normal"): void {
  ctx.font = `${weight} ${Math.min(height, size * 0.36)}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = color;
  ctx.fillText(text, x + size / 2, y + size * at, size - 2);
}

function fill(ctx: CanvasRenderingContext2D, { x, y, size }: Place, color: string, alpha: number): void {
  ctx.globalAlpha = alpha;
  ctx.fillStyle = color;
  ctx.fillRect(x, y, size, size);
  ctx.globalAlpha = 1;
}

function largest(session: Session, shown: Shown): number {
  const { world } = session;
  let most = 1e-12;
  for (let state = 0; state < world.cells.length; state++) {
    if (!isState(world, state)) continue;
    if (shown === "values") most = Math.max(most, Math.abs(session.value(state)));
    else for (let action = 0; action < ACTION_COUNT; action++) most = Math.max(most, Math.abs(session.actionValue(state, action)));
  }
  return most;
}

function maxOf(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), 1e-12);
}
