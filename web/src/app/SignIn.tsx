import { sessionError } from "./session";

/** What a page without a session shows: which command prints the link. */
export function SignIn() {
  const error = sessionError.value;
  return (
    <div class="state sign-in">
      <h1>Open the link that the terminal printed</h1>
      <p>
        This studio answers only to those who have its token. The command that started it prints a link that ends in{" "}
        <code>#token=…</code>; open that one.
      </p>
      <pre>gymnast studio --open</pre>
      {error && (
        <p class="error-text" role="alert">
          {error.message} {error.fix}
        </p>
      )}
    </div>
  );
}
