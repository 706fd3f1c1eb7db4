/** Which lines the charts of an episode show. Pure functions. */
import type { LineSeries } from "../../../chart/types";
import { inkAt } from "../../../chart/colors";
import type { ColumnInfo } from "../types";
import { valueColumns } from "../valueColumns";

export interface EpisodeChart {
  key: string;
  title: string;
  unit: string;
  /** Names of the columns. */
  columns: string[];
  /** Whether a line at zero helps. */
  hasZero: boolean;
  /** Whether the lines are shares of one. */
  isStacked?: boolean;
}

/** Lines in one chart; more could not be distinguished. If there are more, the largest are shown. */
const LINES = 8;
/** Areas in a stacked chart. */
const AREAS = 14;

/** Returns the charts for which there are columns. */
export function episodeCharts(columns: readonly ColumnInfo[]): EpisodeChart[] {
  const names = columns.map(({ name }) => name);
  const has = (name: string) => names.includes(name);
  const starting = (...prefixes: string[]) => names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  const options = starting("p/");
  const terms = starting("term/", "shaping/");
  const values = valueColumns(has);
  const charts: EpisodeChart[] = [
    {
      key: "value",
      title: "Value and return",
      unit: values?.unit ?? "",
      columns: values ? [values.value, values.actual].filter((name) => name !== undefined) : ["return_to_go_raw"].filter(has),
      hasZero: false,
    },
    {
      key: "advantage",
      title: "Advantage and TD error",
      unit: "learned reward",
      columns: ["advantage_learned", "td_error_learned"].filter(has),
      hasZero: true,
    },
    {
      key: "probabilities",
      title: "Action probabilities",
      unit: "share",
      columns: options,
      hasZero: false,
      // The options of one action add up to 1; those of several elements do not.
      isStacked: has("action") && options.length <= AREAS,
    },
    {
      key: "actions",
      title: "Actions and their means",
      unit: "",
      columns: options.length ? [] : starting("mean/", "action/"),
      hasZero: true,
    },
    {
      key: "reward",
      title: "Reward terms",
      unit: "",
      columns: ["reward_raw", ...terms, ...(starting("shaping/").length ? ["reward_learned"] : [])].filter(has),
      hasZero: true,
    },
  ];
  return charts.filter((chart) => chart.columns.length);
}

/** Returns the lines of a chart. Columns with texts are left out. `played`: the episode as it was played, if another
 * line is shown instead from a step on; it stays visible behind. */
export function seriesOf(
  chart: EpisodeChart,
  columns: readonly ColumnInfo[],
  numbers: (column: string) => Float64Array | undefined,
  played: ((column: string) => Float64Array | undefined) | null = null,
): LineSeries[] {
  const shown = chart.isStacked ? chart.columns : largest(chart.columns, numbers);
  return shown.flatMap((name, i) => {
    const y = numbers(name);
    if (!y) return [];
    const info = columns.find((column) => column.name === name);
    const line = { key: name, label: labelOf(name, info), x: stepsOf(y), y, exact: true, ...inkAt(i) };
    const before = chart.isStacked ? undefined : played?.(name);
    return before ? [line, { ...line, key: `${name} as played`, x: stepsOf(before), y: before, faint: true }] : [line];
  });
}

/** Returns the columns with the largest values on average, in their order. */
function largest(names: readonly string[], numbers: (column: string) => Float64Array | undefined): readonly string[] {
  if (names.length <= LINES) return names;
  const sizes = new Map(names.map((name) => [name, meanSize(numbers(name))]));
  const kept = [...names].sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0)).slice(0, LINES);
  return names.filter((name) => kept.includes(name));
}

function meanSize(values: Float64Array | undefined): number {
  let [sum, count] = [0, 0];
  for (const value of values ?? []) {
    if (!Number.isFinite(value)) continue;
    sum += Math.abs(value);
    count++;
  }
  return count ? sum / count : 0;
}

function stepsOf(values: Float64Array): Float64Array {
  return Float64Array.from(values, (_, step) => step);
}

function labelOf(name: string, info: ColumnInfo | undefined): string {
  const part = /^(?:p|shaping|term)\/(.*)$/.exec(name)?.[1];
  return part ?? info?.label ?? name;
}
