/** Dialogs on the browser's <dialog>, which keeps the focus inside and closes on Escape. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./Button";
import { Icon } from "./icons";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  className?: string;
  /** Whether only screen readers get the title. */
  hideTitle?: boolean;
  /** Buttons at the bottom. */
  actions?: ComponentChildren;
}

export function Dialog({ title, onClose, children, className = "", hideTitle, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Not useEffect, which waits for a frame: keys that are typed until then would not reach the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    // autofocus works only for elements that are there when the dialog opens
    element?.querySelector<HTMLElement>("[autofocus]")?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${className}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
    >
      <div class="dialog-body">
        <div class={hideTitle ? "visually-hidden" : "dialog-head"}>
          <h2 id={heading}>{title}</h2>
          {!hideTitle && (
            <button class="icon-button" type="button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </div>
        {children}
        {actions && <div class="dialog-actions">{actions}</div>}
      </div>
    </dialog>
  );
}

export interface Question {
  title: string;
  /** What happens and what is lost. */
  text: ComponentChildren;
  /** The verb on the button: `Delete 3 runs`. */
  action: string;
  danger?: boolean;
}

const asked = signal<{ question: Question; answer: (yes: boolean) => void } | null>(null);

/** Asks once, in a dialog that names what is lost; resolves to whether the user agreed. */
export function confirmed(question: Question): Promise<boolean> {
  asked.peek()?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/** Where `confirmed` shows its dialog; part of the shell. */
export function Confirmation() {
  const current = asked.value;
  if (!current) return null;
  const { question, answer } = current;
  return (
    <Dialog
      title={question.title}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)} autofocus={question.danger}>
            Cancel
          </Button>
          <Button kind={question.danger ? "danger" : "primary"} onClick={() => answer(true)} autofocus={!question.danger}>
            {question.action}
          </Button>
        </>
      }
    >
      <div class="dialog-text">{question.text}</div>
    </Dialog>
  );
}
