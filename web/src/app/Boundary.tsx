/** Shows an error of a page instead of an empty screen. */
import { Component, type ComponentChildren } from "preact";
import { CopyButton } from "../ui/CopyButton";

interface Props {
  /** The error is forgotten when this changes. */
  place: string;
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null });
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div class="state" role="alert">
        <h1>This page has a defect</h1>
        <p>
          The runs are not affected; the terminal shows them too: <code>gymnast runs</code>
        </p>
        <pre>{error.stack ?? String(error)}</pre>
        <p>
          <button type="button" class="button" onClick={() => this.setState({ error: null })}>
            Try again
          </button>{" "}
          <CopyButton text={error.stack ?? String(error)} label="Copy the error" />
        </p>
      </div>
    );
  }
}
