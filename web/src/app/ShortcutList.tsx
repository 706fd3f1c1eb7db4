import { Dialog } from "../ui/Dialog";
import { shortcuts } from "./shortcuts";

const CHART_KEYS: [keys: string, description: string][] = [
  ["+ -", "Zoom in and out"],
  ["0", "Show all"],
  ["← →", "Move the crosshair; with shift, the view"],
  ["enter", "Enlarge"],
  ["alt", "Show all digits of the values at the crosshair"],
  ["ctrl+wheel", "Zoom at the pointer; drag to zoom into a part, double click to show all"],
];

/** The shortcuts of the page. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const listed = new Map(shortcuts.value.filter((s) => s.description).map((s) => [s.keys, s.description]));
  const hasCharts = document.querySelector(".chart .plot") !== null;
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <Keys entries={[...listed]} />
      {hasCharts && (
        <>
          <h3>On a chart that has the focus</h3>
          <Keys entries={CHART_KEYS} />
        </>
      )}
    </Dialog>
  );
}

function Keys({ entries }: { entries: [keys: string, description: string][] }) {
  return (
    <dl class="shortcut-list">
      {entries.map(([keys, description]) => (
        <div key={keys}>
          <dt>
            {keys.split(" ").map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}
