/** One setting: its value as text, its meaning, default and origin, and its problems. */

import { Component } from "preact";
import type { ConfigProblem, FormField } from "../../api/types";
import { DocText } from "./DocText";
import { fieldId } from "./focusSetting";
import { differsFromDefault } from "./formFilter";
import { valueText } from "./valueText";

interface Props {
  field: FormField;
  /** The text that the user typed; undefined if it is not changed. */
  typed: string | undefined;
  problems: readonly ConfigProblem[];
  /** null restores the value. */
  onChange: (key: string, text: string | null) => void;
}

/** Drawn again only if its own values changed: the form of every keystroke has new objects for all of them. */
export class SettingField extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    const now = this.props;
    return next.typed !== now.typed || !sameJson(next.field, now.field) || !sameJson(next.problems, now.problems);
  }

  override render() {
    const { field, typed, problems, onChange } = this.props;
    const id = fieldId(field.key);
    const isChanged = typed !== undefined;
    const name = field.key.slice(field.key.lastIndexOf(".") + 1);
    const states = ["setting", isChanged ? "changed" : "", field.applies ? "" : "without-effect"];
    return (
      <div class={states.filter(Boolean).join(" ")}>
        <label class="setting-key" for={id} title={field.key}>
          {name}
        </label>
        <div class="setting-input">
          <Input
            id={id}
            field={field}
            text={typed ?? field.text}
            isWrong={problems.length > 0}
            onChange={(text) => onChange(field.key, text)}
          />
          {isChanged ? (
            <button
              type="button"
              class="icon-button"
              aria-label={`Restore ${field.key}`}
              title="Restore the value of the preset"
              onClick={() => onChange(field.key, null)}
            >
              ↺
            </button>
          ) : (
            <span class="reset-space" />
          )}
        </div>
        <div class="setting-facts">
          <span class={`badge origin ${isChanged ? "changed" : ""}`} title={`The value comes from: ${field.origin}`}>
            {isChanged ? "changed" : shortOrigin(field.origin)}
          </span>
          {field.default !== null && (isChanged || differsFromDefault(field)) && (
            <span class="muted small" title="Value without preset and changes">
              default {valueText(field.default) || "-"}
            </span>
          )}
          {field.live && (
            <span class="badge" title="Can be changed while a run trains">
              live
            </span>
          )}
          {!field.applies && (
            <span class="badge warning" title={`It applies only ${field.condition}.`}>
              no effect
            </span>
          )}
        </div>
        <p class="setting-doc" id={`${id}-doc`}>
          <DocText text={field.doc} />
        </p>
        {problems.map((problem) => (
          <p key={problem.message} class="setting-problem error-text" id={`${id}-problem`} role="alert">
            {problem.text}
          </p>
        ))}
      </div>
    );
  }
}

interface InputProps {
  id: string;
  field: FormField;
  text: string;
  isWrong: boolean;
  onChange: (text: string) => void;
}

function Input({ id, field, text, isWrong, onChange }: InputProps) {
  const described = isWrong ? `${id}-doc ${id}-problem` : `${id}-doc`;
  if (field.kind === "choice" || field.kind === "switch") {
    const choices = field.choices.includes(text) ? field.choices : [...field.choices, text];
    return (
      <select
        id={id}
        value={text}
        aria-describedby={described}
        aria-invalid={isWrong ? true : undefined}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        id={id}
        value={text}
        list={field.choices.length ? `${id}-words` : undefined}
        spellcheck={false}
        autocomplete="off"
        title={inputHint(field)}
        aria-describedby={described}
        aria-invalid={isWrong ? true : undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {field.choices.length > 0 && (
        <datalist id={`${id}-words`}>
          {field.choices.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
    </>
  );
}

function inputHint(field: FormField): string {
  const parts: string[] = [field.schedulable ? "A number, or a schedule such as 3e-4 -> 0" : `Kind: ${field.kind}`];
  if (field.low !== null) parts.push(`at least ${field.low}`);
  if (field.high !== null) parts.push(`at most ${field.high}`);
  if (field.choices.length) parts.push(`or ${field.choices.join(", ")}`);
  return parts.join(", ");
}

/** Returns the file or layer of an origin: `variant ppo, CartPole-v1.yaml:12` is `variant ppo`. */
function shortOrigin(origin: string): string {
  return origin.split(",")[0] ?? origin;
}

function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
