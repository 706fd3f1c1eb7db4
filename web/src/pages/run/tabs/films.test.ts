import { expect, it } from "vitest";
import { fileHref, filmText, type RunFilm } from "./films";

const film: RunFilm = { path: "/runs/a/videos/x.mp4", is_best: true, kind: "eval", version: 151552, episode: 13, seed: 1, length: 2, raw_return: 3, returns: {}, cast: {}, outcome: "", exact: true, note: "", created: 0 };

it("names a film by what it shows", () => {
  expect(filmText(film)).toBe("evaluation at 151,552 env steps, episode 13");
  expect(filmText({ ...film, cast: { seeker: "learner", hider: "scripted:easy" } })).toContain("seeker learner against hider scripted:easy");
  expect(filmText({ ...film, kind: "" })).toBe("x.mp4");
});
it("encodes names of files", () => {
  expect(fileHref("a b", "videos/50%.mp4")).toBe("files/a%20b/videos/50%25.mp4");
});
