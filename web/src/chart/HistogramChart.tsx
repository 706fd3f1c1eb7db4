/** A histogram, or bars of categories, drawn as SVG. */
import { useSignal } from "@preact/signals";
import { copied } from "../ui/CopyButton";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/Menu";
import { formatNumber, formatShort } from "../ui/numbers";
import { toast } from "../ui/toast";
import { ChartTitle } from "./ChartTitle";
import { csvText } from "./export";
import { bars, ticksOf } from "./histogram";
import { Swatch } from "./Legend";
import type { HistogramChartProps } from "./types";
import { useWidth } from "./useWidth";

const LEFT = 44;
const BOTTOM = 32;
const TOP = 8;

export function HistogramChart(props: HistogramChartProps) {
  const { title, xLabel, yLabel, series, categories, height = 160 } = props;
  const { host, width } = useWidth();
  const hovered = useSignal<string>("");
  const inner = { width: Math.max(1, width.value - LEFT - 8), height: height - TOP - BOTTOM };
  const shape = bars(series, inner.width, inner.height, categories !== undefined);
  const texts = series.flatMap(({ label, counts, edges }) =>
    Array.from(counts, (count, i) => {
      const name = categories?.[i] ?? `${formatNumber(edges[i] ?? 0)} to ${formatNumber(edges[i + 1] ?? 0)}`;
      return `${series.length > 1 ? `${label}, ` : ""}${name}: ${formatNumber(count)}`;
    }),
  );
  const copyCsv = async () => {
    const columns = series.flatMap(({ label, edges, counts }) => [
      { name: `${label} ${xLabel}`, values: Array.from(edges).slice(0, counts.length) },
      { name: label, values: Array.from(counts) },
    ]);
    if (await copied(csvText(columns))) toast("Copied the data of the chart as CSV.");
  };
  return (
    <section class="chart" aria-label={title}>
      <div class="chart-head">
        <ChartTitle {...props} />
        <span class="chart-value num">{hovered}</span>
        <Menu
          label={<Icon name="more" />}
          name={`Actions for ${title}`}
          class="icon-button chart-menu"
          align="end"
          items={[{ label: "Copy as CSV", run: () => void copyCsv() }, ...(props.actions ?? [])]}
        />
      </div>
      <div ref={host} class="plot" style={{ height: `${height}px` }}>
        {width.value > 0 && (
          <svg
            class="histogram"
            width={width.value}
            height={height}
            role="img"
            aria-label={`${title}. ${texts.slice(0, 40).join("; ")}`}
          >
            {ticksOf(shape.highest, 4).map((tick) => {
              const y = TOP + inner.height * (1 - tick / (shape.highest || 1));
              return (
                <g key={tick}>
                  <line class="grid-line" x1={LEFT} x2={LEFT + inner.width} y1={y} y2={y} />
                  <text x={LEFT - 6} y={y + 4} text-anchor="end">
                    {formatShort(tick)}
                  </text>
                </g>
              );
            })}
            {shape.bars.map((bar, i) => (
              <rect
                key={i}
                x={LEFT + bar.left}
                y={TOP + bar.top}
                width={bar.width}
                height={bar.height}
                fill={series[bar.series]?.color}
                fill-opacity={series.length > 1 ? 0.7 : 0.85}
                onPointerEnter={() => (hovered.value = texts[i] ?? "")}
                onPointerLeave={() => (hovered.value = "")}
              />
            ))}
            {(categories
              ? categories.map((name, i) => ({ text: name, at: ((i + 0.5) / categories.length) * inner.width }))
              : shape.ticks.map((tick) => ({ text: formatShort(tick.value), at: tick.at }))
            ).map(({ text, at }, i) => (
              <text key={i} x={LEFT + at} y={height - BOTTOM + 14} text-anchor="middle">
                {text}
              </text>
            ))}
            <text x={LEFT + inner.width / 2} y={height - 4} text-anchor="middle" class="axis-label">
              {yLabel ? `${yLabel} by ${xLabel}` : xLabel}
            </text>
          </svg>
        )}
      </div>
      {series.length > 1 && (
        <ul class="legend" aria-label="Legend">
          {series.map(({ key, label, color }) => (
            <li key={key}>
              <Swatch color={color} /> <span class="small">{label}</span>
            </li>
          ))}
        </ul>
      )}
      {props.footnote && <p class="legend-note" title={props.footnote}>{props.footnote}</p>}
    </section>
  );
}
