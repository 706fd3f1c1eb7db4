/** The zoom that all charts of the page share, and its place in the URL. */
import { useEffect } from "preact/hooks";
import { chartGroup, resetZoom } from "../../chart/sync";
import type { CompareView } from "./view";

export const CHART_GROUP = "compare";
const PAUSE = 50;

/** Zooms the charts as the URL says, and calls `onZoom` when the user has zoomed and paused: the charts follow the
 * pointer by themselves, and the page is made again only once. */
export function useZoom(zoom: CompareView["zoom"], onZoom: (zoom: CompareView["zoom"]) => void): void {
  useEffect(() => {
    chartGroup(CHART_GROUP).zoom.value = zoom ? [zoom.low, zoom.high] : null;
  }, [zoom?.low, zoom?.high]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirst = true;
    const end = chartGroup(CHART_GROUP).zoom.subscribe((range) => {
      clearTimeout(timer);
      if (!isFirst) timer = setTimeout(() => onZoom(range && { low: range[0], high: range[1] }), PAUSE);
      isFirst = false;
    });
    return () => {
      end();
      clearTimeout(timer);
      resetZoom(CHART_GROUP);
    };
  }, []);
}
