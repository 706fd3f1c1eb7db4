/** The image that the network reads at the current step: one picture per stacked frame. They are asked for once the user
 * has stopped moving. */
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import { ErrorLine } from "../../../ui/states";
import { stepArguments } from "../panels/records";
import { useSettled } from "../panels/useSettled";
import { useEpisode } from "../store";

export function InputImages() {
  const store = useEpisode();
  const step = useSettled(store.step).value;
  const variation = store.variation.value;
  const isOfEpisode = !variation || step <= variation.step;
  const args = stepArguments(store, step);
  const answer = useQuery(isOfEpisode ? `obs-images:${JSON.stringify(args)}` : "", () => read("obs_images", args));
  if (!isOfEpisode) return <p class="muted">Go back to the episode: this is a variation of it.</p>;
  const found = answer.data.value;
  return (
    <>
      <ErrorLine error={answer.error.value} />
      {found && (
        <div class="episode-input-images">
          {found.images.map(({ name, picture }) => (
            <figure key={name}>
              <img
                src={`data:image/png;base64,${picture}`}
                alt={`Network input ${name}`.trim()}
                width={found.width}
                height={found.height}
                style={{ aspectRatio: `${found.width} / ${found.height}` }}
              />
              {name && <figcaption class="muted num">{name}</figcaption>}
            </figure>
          ))}
        </div>
      )}
    </>
  );
}
