import { useSignal } from "@preact/signals";
import { Icon } from "./icons";
import { toast } from "./toast";

interface Props {
  /** The text, or what makes it when the button is pressed. */
  text: string | (() => string | Promise<string>);
  label?: string;
  /** What the message says was copied. */
  what?: string;
  class?: string;
}

/** Copies a text, such as the command that does the same in a terminal. */
export function CopyButton({ text, label, what = "", class: extra = "" }: Props) {
  const done = useSignal(false);
  const copy = async () => {
    const value = typeof text === "string" ? text : await text();
    if (!(await copied(value))) return;
    done.value = true;
    setTimeout(() => (done.value = false), 1500);
    if (what) toast(`Copied ${what}.`);
  };
  return (
    <button
      type="button"
      class={`copy-button ${label ? "button" : "icon-button"} ${extra}`}
      aria-label={label ? undefined : "Copy"}
      title={typeof text === "string" ? `Copy: ${text.slice(0, 300)}` : "Copy"}
      onClick={() => void copy()}
    >
      {label ?? <Icon name={done.value ? "check" : "copy"} />}
      {label && done.value && <Icon name="check" />}
    </button>
  );
}

/** Copies a text to the clipboard; returns whether it worked. Through plain HTTP from another machine, browsers
 * have no clipboard for pages: then the text is selected in a field. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const worked = document.execCommand("copy");
    field.remove();
    if (!worked) toast("The browser does not allow copying here. Open the studio on 127.0.0.1 or through https.", { kind: "error" });
    return worked;
  }
}
