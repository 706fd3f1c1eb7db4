/** Playing an environment by hand, in the browser. What was played is stored like any episode. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PageProps } from "../../app/pages";
import { Link } from "../../app/router";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { Num } from "../../ui/Num";
import { ErrorLine } from "../../ui/states";
import { episodePath } from "../episode/address";
import { Game } from "./game";
import "./play.css";

const SPEEDS = [0.25, 0.5, 1, 2];

export default function PlayPage({ values }: PageProps) {
  const target = decodeURIComponent(values["target"] ?? "CartPole-v1");
  return <Play key={target} target={target} />;
}

function Play({ target }: { target: string }) {
  const game = useMemo(() => new Game(), []);
  const seed = useSignal("");
  const role = useSignal("");
  const board = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const end = () => void game.stop();
    window.addEventListener("pagehide", end);
    return () => {
      window.removeEventListener("pagehide", end);
      end();
    };
  }, [game]);
  const start = game.start.value;
  const state = game.state.value;
  const isPlaying = Boolean(state && !state.over);
  const begin = async () => {
    await game.begin({ target, seed: /^\d+$/.test(seed.value.trim()) ? Number(seed.value) : null, role: role.value });
    board.current?.focus();
  };
  return (
    <div class="play">
      <header class="play-head">
        <h1>Play {start?.env ?? target}</h1>
        <label>
          seed{" "}
          <input
            class="play-seed"
            inputMode="numeric"
            placeholder="a new one"
            value={seed.value}
            onInput={(event) => (seed.value = event.currentTarget.value)}
          />
        </label>
        {start && start.roles.length > 0 && (
          <label>
            role{" "}
            <select value={role.value || start.role} onChange={(event) => (role.value = event.currentTarget.value)}>
              {start.roles.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <Button kind="primary" busy={game.starting.value} disabledReason={readOnlyReason.value || undefined} onClick={() => void begin()}>
          {start ? "New game" : "Start"}
        </Button>
        {isPlaying && (
          <>
            <Button onClick={() => (game.paused.value = !game.paused.value)}>{game.paused.value ? "Continue" : "Pause"}</Button>
            <Button onClick={() => void game.stop()}>Stop</Button>
            <label>
              speed{" "}
              <select value={game.speed.value} onChange={(event) => (game.speed.value = Number(event.currentTarget.value))}>
                {SPEEDS.map((speed) => (
                  <option key={speed} value={speed}>
                    {speed}x
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
      </header>
      <ErrorLine error={game.error.value} />
      <div
        ref={board}
        class="play-board"
        tabIndex={0}
        role="application"
        aria-label={`${start?.env ?? target}: press the keys listed below`}
        onKeyDown={(event) => use(event, game.press(event.key, true))}
        onKeyUp={(event) => use(event, game.press(event.key, false))}
        onBlur={() => (game.held.value = [])}
      >
        {state ? <Picture picture={state.picture} type={state.media_type} /> : <p class="muted">Press Start, then play with the keys.</p>}
      </div>
      {start && state && (
        <>
          <p class="play-numbers" role="status">
            step <Num value={state.step} metric={{ unit: "", digits: 0 }} />, return <Num value={state.total} />
            {start.role && `, you are ${start.role}`}
            {Object.keys(start.cast).length > 0 && <span class="muted"> {castText(start.cast)}</span>}
            {state.over && <strong> {state.outcome}</strong>}
          </p>
          {state.episode && (
            <p>
              <Link to={episodePath({ ...state.episode.address, run: state.episode.run })}>Open it in the inspector</Link>
            </p>
          )}
          <ul class="play-keys" aria-label="Keys">
            {start.keys.map(({ key, does }) => (
              <li key={key} class={game.held.value.includes(key) ? "held" : ""}>
                <kbd>{key}</kbd> {does}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function use(event: KeyboardEvent, isUsed: boolean): void {
  if (!isUsed) return;
  event.preventDefault();
  event.stopPropagation();
}

function castText(cast: Record<string, string>): string {
  return Object.entries(cast)
    .map(([role, player]) => `${role}: ${player}`)
    .join(", ");
}

/** The current picture, decoded before it is shown, so that nothing flickers. */
function Picture({ picture, type }: { picture: string; type: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isCurrent = true;
    const bytes = Uint8Array.from(atob(picture), (sign) => sign.charCodeAt(0));
    void createImageBitmap(new Blob([bytes], { type })).then((bitmap) => {
      const target = canvas.current;
      if (isCurrent && target) {
        if (target.width !== bitmap.width || target.height !== bitmap.height) {
          target.width = bitmap.width;
          target.height = bitmap.height;
        }
        target.getContext("2d", { alpha: false })?.drawImage(bitmap, 0, 0);
      }
      bitmap.close();
    });
    return () => {
      isCurrent = false;
    };
  }, [picture]);
  return <canvas ref={canvas} role="img" aria-label="The environment" width={1} height={1} />;
}
