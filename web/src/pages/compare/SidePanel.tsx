/** The left column: the sides of the comparison with their colors, and the field that adds more. */
import { useComputed, type ReadonlySignal } from "@preact/signals";
import type { RunSummary } from "../../api/types";
import { Link, runPath } from "../../app/router";
import { Swatch } from "../../chart/Legend";
import { Menu, type MenuItem } from "../../ui/Menu";
import { AddRuns } from "./AddRuns";
import { mergeSides, withoutSide, type Side } from "./sides";
import { MANY_SIDES, type SideStyles } from "./styles";
import type { CompareView } from "./view";

interface Props {
  sides: readonly Side[];
  runs: readonly RunSummary[];
  view: CompareView;
  baseline: string;
  highlighted: ReadonlySignal<string>;
  styles: SideStyles;
  onHighlight: (ref: string) => void;
  onChange: (changes: Partial<CompareView>) => void;
}

export function SidePanel(props: Props) {
  const { sides, runs, view, onChange } = props;
  const chosen = new Set(sides.flatMap((side) => side.runs));
  const visible = sides.filter((side) => !view.hidden.includes(side.ref));
  return (
    <section class="compare-sides" aria-label="Runs and groups">
      <AddRuns runs={runs} chosen={chosen} onAdd={(ref) => onChange({ refs: [...sides.map((side) => side.ref), ref] })} />
      <div class="compare-sides-head small muted">
        <span>
          {visible.length} of {sides.length} shown
        </span>
        <button
          type="button"
          class="link-button"
          onClick={() => onChange({ hidden: visible.length < sides.length ? [] : sides.map((side) => side.ref) })}
        >
          {visible.length < sides.length ? "show all" : "hide all"}
        </button>
      </div>
      <ul onPointerLeave={() => props.onHighlight("")}>
        {sides.map((side) => (
          <SideRow key={side.ref} side={side} {...props} />
        ))}
      </ul>
    </section>
  );
}

function SideRow(props: Props & { side: Side }) {
  const { side, sides, runs, view, baseline, highlighted, onChange } = props;
  const isShown = !view.hidden.includes(side.ref);
  const isBaseline = side.ref === baseline;
  const isHighlighted = useComputed(() => highlighted.value === side.ref);
  const only = side.runs.length === 1 ? side.runs[0]! : null;
  const run = only === null ? undefined : runs.find((one) => one.id === only);
  const toggle = () =>
    onChange({ hidden: isShown ? [...view.hidden, side.ref] : view.hidden.filter((ref) => ref !== side.ref) });
  return (
    <li
      class={`compare-side${isHighlighted.value ? " highlighted" : ""}${isShown ? "" : " off"}`}
      onPointerEnter={() => props.onHighlight(side.ref)}
    >
      <div class="compare-side-line">
        <label class="compare-side-name" title={side.label}>
          <input type="checkbox" checked={isShown} onChange={toggle} aria-label={`Show ${side.label}`} />
          <Swatch color={props.styles.color(side.ref)} dash={props.styles.dash(side.ref)} />
          <span class="ellipsis">{side.label}</span>
        </label>
        {isBaseline && sides.length > 1 && <span class="compare-baseline-note">baseline</span>}
        <Menu
          label="⋯"
          name={`Actions for ${side.label}`}
          class="icon-button"
          align="end"
          items={sideItems(side, sides, view, isBaseline, onChange)}
        />
      </div>
      {run && sides.length <= MANY_SIDES && (
        <div class="compare-side-detail small muted">
          <Link to={runPath(run.id)}>{run.id}</Link> · {run.preset} · {run.status}
        </div>
      )}
      {only === null && (
        <details class="compare-side-detail small muted">
          <summary>{side.runs.length} runs</summary>
          <ul>
            {side.runs.map((id) => {
              const member = runs.find((one) => one.id === id);
              return (
                <li key={id}>
                  <Link to={runPath(id)}>{member?.name || id}</Link>
                  {member && ` · ${member.status}`}
                </li>
              );
            })}
          </ul>
        </details>
      )}
    </li>
  );
}

function sideItems(
  side: Side,
  sides: readonly Side[],
  view: CompareView,
  isBaseline: boolean,
  onChange: (changes: Partial<CompareView>) => void,
): MenuItem[] {
  const others = sides.filter((other) => other.ref !== side.ref);
  const items: MenuItem[] = [
    {
      label: "Compare the others with it (baseline)",
      run: () => onChange({ baseline: side.ref }),
      disabledReason: isBaseline ? "It is the baseline already." : undefined,
    },
    { label: "Show only this", run: () => onChange({ hidden: others.map((other) => other.ref) }) },
  ];
  for (const other of others.slice(0, 12)) {
    items.push({ label: `Put together with ${other.label}`, run: () => onChange({ refs: mergeSides(sides, [side, other]) }) });
  }
  if (side.kind === "set" && view.grouping !== "variant") {
    items.push({ label: "Split into its runs", run: () => onChange({ refs: withoutSide(sides, side, true) }) });
  }
  items.push({ label: "Remove from the comparison", run: () => onChange({ refs: withoutSide(sides, side) }) });
  return items;
}
