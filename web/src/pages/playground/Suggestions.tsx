/** "What to try": each suggestion asks a question, and its buttons set everything up. */
import { Button } from "../../ui/Button";

export interface Suggestion<T> {
  title: string;
  text: string;
  choices: readonly { label: string; view: T }[];
}

export function Suggestions<T>({ suggestions, onTry }: { suggestions: readonly Suggestion<T>[]; onTry: (view: T) => void }) {
  return (
    <section class="playground-section" aria-label="What to try">
      <h2>What to try</h2>
      <ul class="playground-suggestions">
        {suggestions.map(({ title, text, choices }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p class="small">{text}</p>
            <div class="playground-row">
              {choices.map(({ label, view }) => (
                <Button key={label} aria-label={`${title} ${label}`} onClick={() => onTry(view)}>
                  {label}
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
