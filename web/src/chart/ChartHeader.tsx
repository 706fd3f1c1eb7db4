/** The title of a chart, the value at the crosshair, and the menu. */
import { useComputed, type ReadonlySignal } from "@preact/signals";
import { shownTheme } from "../app/theme";
import { copied } from "../ui/CopyButton";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/Menu";
import { toast, toastError } from "../ui/toast";
import { ChartTitle } from "./ChartTitle";
import { copyPicture, csvText, pngOf } from "./export";
import type { FrameProps } from "./Frame";
import { readingTexts } from "./Legend";
import type { PlotModel } from "./model";
import type { Range } from "./view";

interface Props {
  chart: FrameProps;
  cursor: ReadonlySignal<number | null>;
  model: ReadonlySignal<PlotModel>;
  zoom: ReadonlySignal<Range | null>;
  canvas: () => HTMLCanvasElement | undefined;
  onReset: () => void;
  onOpen: (dialog: "enlarged" | "table") => void;
}

export function ChartHeader({ chart, cursor, model, zoom, canvas, onReset, onOpen }: Props) {
  const { title, isEnlarged, log, onLog } = chart;
  const value = useComputed(() => {
    const [only, ...rest] = model.value.legend;
    return only && !rest.length ? (readingTexts(model.value, cursor.value).get(only.key) ?? "") : "";
  });
  const copyPng = async () => {
    const plot = canvas();
    if (!plot) return;
    const how = await copyPicture(await pngOf(plot, title, model.value.legend, shownTheme.value), title);
    toast(how === "copied" ? "Copied the chart as PNG." : "Saved the chart as PNG.");
  };
  const copyCsv = async () => {
    if (await copied(csvText(model.value.columns()))) toast("Copied the data of the chart as CSV.");
  };
  const copyLink = async () => {
    if (await copied(new URL(chart.link ?? location.href, document.baseURI).href)) toast("Copied the link to the chart.");
  };
  return (
    <div class="chart-head">
      <ChartTitle {...chart} />
      <span class="chart-value num">{value}</span>
      {zoom.value && (
        <button type="button" class="icon-button" aria-label="Show all" title="Show all (double click, or 0)" onClick={onReset}>
          <Icon name="width" />
        </button>
      )}
      <Menu
        label={<Icon name="more" />}
        name={`Actions for ${title}`}
        class="icon-button chart-menu"
        align="end"
        items={[
          ...(isEnlarged ? [] : [{ label: "Enlarge", run: () => onOpen("enlarged") }]),
          ...(onLog ? [{ label: "Logarithmic scale", checked: log ?? false, run: () => onLog(!log) }] : []),
          { label: "Show all", run: onReset },
          { label: "Show as table", run: () => onOpen("table") },
          { label: "Copy as PNG", run: () => void copyPng().catch(toastError) },
          { label: "Copy as CSV", run: () => void copyCsv() },
          { label: "Copy link", run: () => void copyLink() },
          ...(chart.actions ?? []),
        ]}
      />
    </div>
  );
}
