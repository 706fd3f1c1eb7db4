/** What the card of a step shows, from the columns of the table. Pure functions. */
import { optionNames } from "../columns";
import { extent } from "../format";
import type { Cell, ColumnInfo, EpisodeInspection } from "../types";

/** One option of the policy: an action, or a value of a part of it. */
export interface Option {
  /** `left`, or `turn left` if an action has several elements. */
  label: string;
  /** Column of its probability. */
  column: string;
  /** Column that says whether it is allowed; undefined without masks. */
  mask: string | undefined;
  /** Column of the action that was taken, or of the element of it. */
  taken: string;
  /** Its name and number among the options of that column. */
  name: string;
  index: number;
}

export interface Range {
  column: string;
  label: string;
  unit: string;
  low: number | null;
  high: number | null;
  /** Whether the range is that of the space; otherwise it is that of the episode. */
  isDeclared: boolean;
}

export interface CardModel {
  options: Option[];
  /** Parts of a continuous action: what was done, and the mean of the policy if it is known. */
  amounts: (Range & { mean: string | undefined })[];
  /** Other action columns, such as those of a player without probabilities. */
  actions: ColumnInfo[];
  observations: Range[];
  /** The network's input: normalized observations. */
  inputs: ColumnInfo[];
  rewards: ColumnInfo[];
  values: ColumnInfo[];
  policy: ColumnInfo[];
  other: ColumnInfo[];
}

/** Columns that the card shows in its title. */
const IN_TITLE = ["greedy", "terminated", "truncated", "starts", "step"];

/** Returns the sections of the card. `numbers`: values of a column as numbers. */
export function cardModel(inspection: EpisodeInspection, numbers: (column: string) => Float64Array | undefined): CardModel {
  const columns = inspection.columns.filter(({ name }) => name in inspection.table);
  const names = new Set(columns.map(({ name }) => name));
  const options = optionsOf(columns.map(({ name }) => name));
  const actionColumns = columns.filter(({ name }) => name === "action" || name.startsWith("action/"));
  const range = (column: ColumnInfo): Range => {
    const component = inspection.observations.find((found) => found.column === column.name);
    const declared = component && finite(component.low) !== null && finite(component.high) !== null;
    const found = extent(numbers(column.name) ?? []);
    return {
      column: column.name,
      label: component?.name || column.label,
      unit: component?.unit || column.unit,
      low: declared ? component.low : (found?.[0] ?? null),
      high: declared ? component.high : (found?.[1] ?? null),
      isDeclared: Boolean(declared),
    };
  };
  const taken = new Set(options.map((option) => option.taken));
  const amounts = actionColumns
    .filter(({ name }) => !taken.has(name) && !optionNames(inspection, name).length && numbers(name) !== undefined && (names.has(meanOf(name)) || !options.length))
    .map((column) => ({ ...range(column), mean: names.has(meanOf(column.name)) ? meanOf(column.name) : undefined }));
  const shown = new Set([...options.map(({ column }) => column), ...amounts.map(({ column }) => column), ...taken]);
  const group = (wanted: ColumnInfo["group"]) => columns.filter((column) => column.group === wanted);
  return {
    options,
    amounts,
    actions: actionColumns.filter(({ name }) => !shown.has(name)),
    observations: group("observation").filter(({ name }) => name.startsWith("obs")).map(range),
    inputs: group("input"),
    rewards: group("reward"),
    values: distinctValues(group("value"), inspection.table),
    policy: group("policy").filter(({ name }) => !/^(p|mean|std|mask)\//.test(name) && !IN_TITLE.includes(name)),
    other: columns.filter(({ name }) => name.startsWith("info/")),
  };
}

/** Returns the options of the policy, from the names of the columns: `p/OPTION`, or `p/ELEMENT.OPTION` if an action has
 * several elements. */
export function optionsOf(names: readonly string[]): Option[] {
  const counts = new Map<string, number>();
  return names
    .filter((name) => name.startsWith("p/"))
    .map((column) => {
      const option = column.slice(2);
      const element = names.find((name) => name.startsWith("action/") && option.startsWith(`${name.slice(7)}.`));
      const taken = element ?? "action";
      const index = counts.get(taken) ?? 0;
      counts.set(taken, index + 1);
      const mask = `mask/${option}`;
      const name = element ? option.slice(element.length - 6) : option;
      const label = element ? `${element.slice(7)} ${name}` : name;
      return { label, column, mask: names.includes(mask) ? mask : undefined, taken, name, index };
    });
}

function meanOf(action: string): string {
  return action.replace(/^action/, "mean");
}

/** Leaves out learned values that are the same number as the raw ones. */
function distinctValues(columns: ColumnInfo[], table: EpisodeInspection["table"]): ColumnInfo[] {
  return columns.filter(({ name }) => {
    if (!name.endsWith("_learned")) return true;
    const raw = table[name.replace(/_learned$/, "_raw")];
    return !raw || !isSame(raw, table[name] ?? []);
  });
}

function isSame(a: readonly Cell[], b: readonly Cell[]): boolean {
  return a.every((value, i) => Object.is(value, b[i]));
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Returns whether an option is the one that was taken: actions are names or, in several elements, numbers. */
export function isTaken(option: Option, action: Cell | undefined): boolean {
  return typeof action === "number" ? action === option.index : action === option.name;
}
