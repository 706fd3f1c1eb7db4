import type { ComponentChildren, JSX } from "preact";
import { Tooltip } from "./Tooltip";

export interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "disabled" | "title"> {
  kind?: "plain" | "primary" | "danger";
  /** Why it cannot be used now: disables it, and explains on hover and focus. */
  disabledReason?: string | undefined;
  title?: string | undefined;
  busy?: boolean;
  children?: ComponentChildren;
}

/** A button. A disabled one can be focused, so that its reason can be read with the keyboard. */
export function Button({ kind = "plain", disabledReason, busy, title, class: extra, onClick, ...rest }: ButtonProps) {
  const isOff = Boolean(disabledReason) || busy === true;
  return (
    <Tooltip content={disabledReason} class="button-wrap">
      <button
        type="button"
        {...rest}
        class={`button ${kind}${extra ? ` ${String(extra)}` : ""}`}
        aria-disabled={isOff ? true : undefined}
        aria-busy={busy ? true : undefined}
        aria-description={disabledReason || undefined}
        title={disabledReason ? undefined : title}
        onClick={isOff ? (event) => event.preventDefault() : onClick}
      />
    </Tooltip>
  );
}
