/** The form of all settings: sections that can be closed, a search field, and what to show. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { ConfigProblem, FormSection, SettingsForm } from "../../api/types";
import { useActions } from "../../app/palette";
import { DocText } from "./DocText";
import { focusSetting, focusWanted, wantedSetting } from "./focusSetting";
import { differsFromDefault, SCOPES, shownSections, type Scope } from "./formFilter";
import { SettingField } from "./SettingField";

interface Props {
  form: SettingsForm;
  changes: ReadonlyMap<string, string>;
  onChange: (key: string, text: string | null) => void;
}

const SCOPE_LABELS: Record<Scope, string> = {
  applies: "what applies",
  changed: "what I changed",
  "not default": "what differs from the defaults",
  all: "everything",
};

export function SettingsEditor({ form, changes, onChange }: Props) {
  const search = useSignal("");
  const scope = useSignal<Scope>("applies");
  const latest = useRef(onChange);
  latest.current = onChange;
  const change = useCallback((key: string, text: string | null) => latest.current(key, text), []);
  // A setting that is searched for elsewhere is shown whatever is filtered here.
  useEffect(() => {
    if (!wantedSetting.value || focusWanted()) return;
    search.value = "";
    if (scope.peek() === "changed" || scope.peek() === "not default") scope.value = "applies";
    if (!shownSections(form.sections, "", scope.peek(), changes).some((section) => hasWanted(section))) scope.value = "all";
  }, [wantedSetting.value]);
  useActions(() =>
    form.sections.flatMap((section) =>
      section.fields.map((field) => ({
        id: `setting ${field.key}`,
        label: field.key,
        kind: "setting",
        keywords: field.doc,
        detail: field.text,
        run: () => focusSetting(field.key),
      })),
    ),
  );
  const sections = shownSections(form.sections, search.value, scope.value, changes);
  const isFiltered = search.value.trim() !== "" || scope.value === "changed" || scope.value === "not default";
  return (
    <div class="settings">
      <div class="settings-bar">
        <input
          type="search"
          placeholder="Search settings: key, meaning or value"
          aria-label="Search settings"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <label>
          Show{" "}
          <select value={scope.value} onChange={(event) => (scope.value = event.currentTarget.value as Scope)}>
            {SCOPES.map((value) => (
              <option key={value} value={value}>
                {SCOPE_LABELS[value]}
              </option>
            ))}
          </select>
        </label>
        <span class="muted">{changes.size ? `${changes.size} changed` : ""}</span>
      </div>
      {sections.map((section) => (
        <Section
          key={`${section.name} ${isFiltered}`}
          section={section}
          isOpen={isFiltered || isInteresting(section, changes)}
          changes={changes}
          problems={form.problems}
          onChange={change}
        />
      ))}
      {!sections.length && <p class="muted settings-empty">No setting matches.</p>}
    </div>
  );
}

function hasWanted(section: FormSection): boolean {
  return section.fields.some((field) => field.key === wantedSetting.value);
}

/** Whether a section starts open: the preset or the user sets something in it. */
function isInteresting(section: FormSection, changes: ReadonlyMap<string, string>): boolean {
  return section.fields.some((field) => changes.has(field.key) || differsFromDefault(field));
}

interface SectionProps {
  section: FormSection;
  isOpen: boolean;
  changes: ReadonlyMap<string, string>;
  problems: readonly ConfigProblem[];
  onChange: (key: string, text: string | null) => void;
}

function Section({ section, isOpen, changes, problems, onChange }: SectionProps) {
  const open = useSignal(isOpen);
  const isWanted = hasWanted(section);
  useEffect(() => {
    if (isWanted) open.value = true;
  }, [isWanted]);
  useEffect(() => {
    if (isWanted && open.value) focusWanted();
  }, [isWanted, open.value]);
  const changed = section.fields.filter((field) => changes.has(field.key)).length;
  const wrong = section.fields.filter((field) => problems.some((problem) => problem.key === field.key)).length;
  return (
    <details class="settings-section" open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <h2>{section.name}</h2>
        <span class="muted ellipsis">
          <DocText text={section.doc} />
        </span>
        {changed > 0 && <span class="badge origin changed">{changed} changed</span>}
        {wrong > 0 && <span class="badge bad">{wrong} wrong</span>}
      </summary>
      {open.value &&
        section.fields.map((field) => (
          <SettingField
            key={field.key}
            field={field}
            typed={changes.get(field.key)}
            problems={problems.filter((problem) => problem.key === field.key)}
            onChange={onChange}
          />
        ))}
    </details>
  );
}
