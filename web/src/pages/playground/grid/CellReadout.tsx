/** Everything about one cell: the one under the pointer, or the focused one. */
import { rounded } from "../../../ui/numbers";
import { ACTIONS } from "./dynamics";
import { cellPlaceText } from "./describe";
import type { GridStore } from "./store";
import { isState } from "./world";

export function CellReadout({ store, index }: { store: GridStore; index: number }) {
  store.drawn.value; // the numbers follow every drawing
  const { session } = store;
  const { algorithm } = session.currentSettings;
  const arrows = session.arrows(index);
  return (
    <p class="playground-readout num">
      <span>{cellPlaceText(session.world, index)}</span>
      {isState(session.world, index) && (
        <>
          <span>
            <i class="muted">V</i> {rounded(session.value(index), 3)}
          </span>
          {ACTIONS.map((name, action) => (
            <span key={name}>
              <i class="muted">{algorithm === "reinforce" ? "π" : "Q"}</i> <span class="muted">{name}</span>{" "}
              {algorithm === "reinforce" ? rounded(arrows[action] ?? 0, 2) : rounded(session.actionValue(index, action), 3)}
            </span>
          ))}
          {algorithm !== "value_iteration" && (
            <span>
              <span class="muted">visits</span> {(session.visits[index] ?? 0).toLocaleString("en-US")}
            </span>
          )}
        </>
      )}
    </p>
  );
}
