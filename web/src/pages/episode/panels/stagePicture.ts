/** The picture that the page shows. */

/** Copies the picture of the current step to another canvas. */
export function copyStage(target: HTMLCanvasElement | null): void {
  const source = document.querySelector<HTMLCanvasElement>(".episode-picture canvas");
  if (!target || !source) return;
  target.width = source.width;
  target.height = source.height;
  target.getContext("2d")?.drawImage(source, 0, 0);
}
