import { Dialog } from "../ui/Dialog";
import { shortcuts } from "./shortcuts";

/** The shortcuts of the page. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const listed = new Map(shortcuts.value.filter((s) => s.description).map((s) => [s.keys, s.description]));
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="shortcut-list">
        {[...listed].map(([keys, description]) => (
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
    </Dialog>
  );
}
