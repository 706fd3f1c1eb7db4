/** The board: a canvas with everything that is drawn, and above it the cells that can be focused and edited. */
import { useSignal, useSignalEffect } from "@preact/signals";
import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { shownTheme } from "../../../app/theme";
import { BRUSH_KEYS, brushCell, type Brush } from "./brushes";
import { CellReadout } from "./CellReadout";
import { cellLabel } from "./describe";
import { boardColors, drawBoard } from "./draw";
import type { GridStore } from "./store";
import { EMPTY, MAX_WIND, withCell, type World } from "./world";

const LARGEST_CELL = 92;
const TALLEST = 470;

interface Props {
  store: GridStore;
  brush: Brush;
  /** Whether the wind can be edited. */
  hasWind: boolean;
}

export function Board({ store, brush, hasWind }: Props) {
  const { world } = store.view.value;
  /** The cell that the tab key leads to. */
  const current = useSignal(world.start);
  const pointed = useSignal<number | null>(null);
  /** What dragging paints; null if nothing is dragged. */
  const painting = useRef<Brush | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const focus = Math.min(current.value, world.cells.length - 1);
  store.labeled.value;

  const paint = (index: number, with_: Brush) => store.setWorld(withCell(store.view.peek().world, index, brushCell(with_)));
  const moveTo = (index: number) => {
    current.value = index;
    (grid.current?.querySelector(`[data-cell="${index}"]`) as HTMLElement | null)?.focus();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(world, focus, event.key);
    const key = BRUSH_KEYS[event.key.toLowerCase()];
    if (next !== null) moveTo(next);
    else if (event.key === "Enter" || event.key === " ") paint(focus, toggled(world, focus, brush));
    else if (event.key === "Delete" || event.key === "Backspace") paint(focus, { ...brush, kind: "empty" });
    else if (key) paint(focus, { ...brush, kind: key });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onPointerDown = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const index = cellAt(event);
    if (index === null || event.button !== 0) return;
    const used = toggled(world, index, brush);
    // A finger scrolls the page; a mouse or a pen draws.
    painting.current = event.pointerType === "touch" ? null : used;
    current.value = index;
    paint(index, used);
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const index = cellAt(event);
    pointed.value = index;
    if (index === null || !painting.current || !(event.buttons & 1)) return;
    paint(index, painting.current);
  };

  const cell = Math.min(LARGEST_CELL, TALLEST / world.rows);
  return (
    <div class="playground-board-area">
      <div class="playground-board" style={{ width: `${Math.floor(cell * world.columns)}px`, aspectRatio: `${world.columns} / ${world.rows}` }}>
        <BoardCanvas store={store} />
        <div
          ref={grid}
          class="playground-cells"
          role="grid"
          aria-label="Grid world"
          aria-describedby="playground-board-keys"
          onKeyDown={onKeyDown}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerLeave={() => (pointed.value = null)}
        >
          {Array.from({ length: world.rows }, (_, row) => (
            <div key={row} role="row">
              {Array.from({ length: world.columns }, (_, column) => {
                const index = row * world.columns + column;
                return (
                  <div
                    key={column}
                    role="gridcell"
                    data-cell={index}
                    tabIndex={index === focus ? 0 : -1}
                    aria-label={cellLabel(store.session, index)}
                    onFocus={() => (current.value = index)}
                  />
                );
              })}
            </div>
          ))}
        </div>
      </div>
      {(hasWind || world.wind.some((strength) => strength > 0)) && <WindRow store={store} width={Math.floor(cell * world.columns)} />}
      <CellReadout store={store} index={pointed.value ?? focus} />
      <p id="playground-board-keys" class="visually-hidden">
        Arrow keys move between cells, enter draws with the chosen brush, w, g, p, s and e draw a wall, goal, pit, start or empty cell.
      </p>
    </div>
  );
}

function BoardCanvas({ store }: { store: GridStore }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const theme = shownTheme.value;
  const colors = useMemo(() => boardColors(theme), [theme]);
  const latest = useRef(colors);
  latest.current = colors;
  const draw = () => {
    const [element, size] = [canvas.current, width.peek()];
    const ctx = element?.getContext("2d");
    if (!element || !ctx || !size) return;
    const { rows, columns } = store.session.world;
    const ratio = window.devicePixelRatio || 1;
    const height = Math.round((size * rows) / columns);
    if (element.width !== Math.round(size * ratio) || element.height !== Math.round(height * ratio)) {
      element.width = Math.round(size * ratio);
      element.height = Math.round(height * ratio);
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawBoard(ctx, size / columns, store.session, store.shown, store.facts.peek().path, latest.current);
  };
  useSignalEffect(() => {
    store.drawn.value;
    width.value;
    draw();
  });
  useEffect(draw, [theme]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const resize = new ResizeObserver(() => (width.value = element.clientWidth));
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  return <canvas ref={canvas} class="playground-canvas" aria-hidden="true" />;
}

/** Strength of the wind in each column; pressing changes it. */
function WindRow({ store, width }: { store: GridStore; width: number }) {
  const { world } = store.view.value;
  const change = (column: number) => {
    const wind = world.wind.map((strength, i) => (i === column ? (strength + 1) % (MAX_WIND + 1) : strength));
    store.setWorld({ ...world, wind });
  };
  return (
    <div class="playground-wind" role="group" aria-label="Wind of the columns" style={{ width: `${width}px` }}>
      {world.wind.map((strength, column) => (
        <button key={column} type="button" aria-label={`Wind of column ${column + 1}: ${strength}`} title="Wind: cells by which a step from this column is blown upward" onClick={() => change(column)}>
          {strength ? "↑".repeat(strength) : "·"}
        </button>
      ))}
    </div>
  );
}

function cellAt(event: TargetedPointerEvent<HTMLElement>): number | null {
  const element = event.target instanceof Element ? event.target.closest("[data-cell]") : null;
  return element instanceof HTMLElement ? Number(element.dataset["cell"]) : null;
}

/** Returns the brush for a cell: what is there already is removed. */
function toggled(world: World, index: number, brush: Brush): Brush {
  const { kind, reward } = world.cells[index] ?? EMPTY;
  const cell = brushCell(brush);
  const isThere = cell !== "start" && kind === cell.kind && reward === cell.reward;
  return isThere ? { ...brush, kind: "empty" } : brush;
}

/** Returns the cell to which a key leads; null for other keys. */
function moved(world: World, index: number, key: string): number | null {
  const column = index % world.columns;
  switch (key) {
    case "ArrowLeft":
      return column > 0 ? index - 1 : index;
    case "ArrowRight":
      return column < world.columns - 1 ? index + 1 : index;
    case "ArrowUp":
      return index >= world.columns ? index - world.columns : index;
    case "ArrowDown":
      return index + world.columns < world.cells.length ? index + world.columns : index;
    case "Home":
      return index - column;
    case "End":
      return index - column + world.columns - 1;
    default:
      return null;
  }
}
