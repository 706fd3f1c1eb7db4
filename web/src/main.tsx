/** The app: starts the session and shows the page of the address. */
import "./ui/styles/index.css";
import { render } from "preact";
import { Boundary } from "./app/Boundary";
import { CurrentPage, loadPage } from "./app/pages";
import { route } from "./app/router";
import { session, startSession } from "./app/session";
import { Shell } from "./app/Shell";
import { SignIn } from "./app/SignIn";
import "./app/theme";

function App() {
  const state = session.value;
  const path = route.value.path;
  return (
    <Shell>
      {state && (
        <Boundary place={path}>{state.signed_in ? <CurrentPage /> : <SignIn />}</Boundary>
      )}
    </Shell>
  );
}

const root = document.getElementById("app");
if (!root) throw new Error("index.html lacks #app");
render(<App />, root);
loadPage();
void startSession();
