/** The frames of an episode: loaded in chunks around the current step, decoded outside the main thread, and bounded in
 * memory. The nearest frame is shown while the exact one loads. */
import { signal } from "@preact/signals";
import { ApiError, queryText, request } from "../../../api/client";
import { episodeArguments } from "../address";
import type { EpisodeAddress, Variation } from "../types";
import { FrameCache } from "./frameCache";
import { nextRequest, overviewStride, stepsOf, type FrameRequest } from "./plan";
import { mediaType, unpackFrames } from "./unpack";

/** Bytes of encoded pictures that are kept. */
const ENCODED_BYTES = 64e6;
/** Bytes of decoded pictures that are kept. */
const DECODED_BYTES = 48e6;
const DECODING = 4;
/** Decoded ahead of playback. */
const READY_AHEAD = 6;
/** Failed requests in a row after which nothing more is asked for. */
const ATTEMPTS = 3;

/** Where frames come from. */
export interface FrameSource {
  path: string;
  args: Readonly<Record<string, unknown>>;
}

/** Returns the source of the frames of an episode, or of a variation of it. */
export function frameSource(address: EpisodeAddress, variation: Pick<Variation, "step" | "action" | "hold"> | null): FrameSource {
  const args = episodeArguments(address);
  if (!variation) return { path: "api/episode-frames", args };
  return { path: "api/branch-frames", args: { ...args, step: variation.step, action: variation.action, hold: variation.hold } };
}

export interface ShownFrame {
  step: number;
  picture: ImageBitmap;
}

export class Frames {
  /** The frame nearest to the current step; undefined before the first. */
  readonly shown = signal<ShownFrame | undefined>(undefined);
  /** Why frames could not be loaded. */
  readonly error = signal<ApiError | undefined>(undefined);
  private readonly encoded: FrameCache<Uint8Array<ArrayBuffer>>;
  private readonly decoded: FrameCache<ImageBitmap>;
  private readonly decoding = new Set<number>();
  private readonly pending = new Set<number>();
  private readonly abort = new AbortController();
  private step = 0;
  private direction: 1 | -1 = 1;
  private isStarted = false;
  private isMoving = false;
  private isAsking = false;
  private failures = 0;

  constructor(
    private readonly source: FrameSource,
    /** The last step that has a frame. */
    private readonly last: number,
    private readonly width: number,
  ) {
    const stride = overviewStride(last);
    this.encoded = new FrameCache(ENCODED_BYTES, undefined, (step) => step % stride === 0);
    this.decoded = new FrameCache(DECODED_BYTES, (picture) => {
      // The picture on the canvas was drawn already; it only must not be drawn again.
      picture.close();
    });
  }

  /** Shows the frame of a step, or the nearest that is there until it is. */
  show(step: number): void {
    if (step !== this.step) {
      this.isMoving = this.isStarted;
      this.direction = step > this.step ? 1 : -1;
    }
    this.isStarted = true;
    this.step = Math.min(step, this.last);
    this.update();
    this.decodeSome();
    void this.ask();
  }

  close(): void {
    this.abort.abort();
    this.decoded.clear();
    this.encoded.clear();
  }

  /** Asks again after an error. */
  retry(): void {
    this.failures = 0;
    this.error.value = undefined;
    void this.ask();
  }

  private update(): void {
    const nearest = this.decoded.nearest(this.step);
    const picture = nearest === undefined ? undefined : this.decoded.get(nearest);
    if (picture && nearest !== undefined && this.shown.peek()?.step !== nearest) this.shown.value = { step: nearest, picture };
  }

  /** Decodes the frame of the current step or the nearest one, then some ahead. */
  private decodeSome(): void {
    const nearest = this.encoded.nearest(this.step);
    if (nearest !== undefined) this.decode(nearest);
    for (let ahead = 1; ahead <= READY_AHEAD; ahead++) this.decode(this.step + ahead * this.direction);
  }

  private decode(step: number): void {
    const bytes = this.encoded.get(step);
    if (!bytes || this.decoded.has(step) || this.decoding.has(step) || this.decoding.size >= DECODING) return;
    this.decoding.add(step);
    createImageBitmap(new Blob([bytes], { type: mediaType(bytes) }))
      .then(
        (picture) => {
          if (this.abort.signal.aborted) return picture.close();
          this.decoded.set(step, picture, picture.width * picture.height * 4, this.step);
          this.update();
        },
        () => {
          this.error.value = new ApiError("page", `The picture of step ${step} cannot be decoded.`);
        },
      )
      .finally(() => {
        this.decoding.delete(step);
        if (!this.abort.signal.aborted && !this.decoded.has(this.step)) this.decodeSome();
      });
  }

  /** Loads what is missing, one request after the other: the server renders one at a time anyway, and the newest
   * position is always next. */
  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      while (!this.abort.signal.aborted && this.failures < ATTEMPTS) {
        const wanted = nextRequest({
          step: this.step,
          direction: this.direction,
          isMoving: this.isMoving,
          last: this.last,
          has: (step) => this.encoded.has(step) || this.pending.has(step),
        });
        if (!wanted || this.isFull(wanted)) return;
        await this.load(wanted);
      }
    } finally {
      this.isAsking = false;
    }
  }

  /** Whether the cache would drop frames nearer than those: loading them would never end. */
  private isFull(wanted: FrameRequest): boolean {
    const average = this.encoded.size / Math.max(1, this.encoded.count);
    const reach = Math.max(Math.abs(wanted.first - this.step), Math.abs(wanted.last - this.step));
    return average * reach > ENCODED_BYTES / 2 && wanted.every === 1;
  }

  private async load(wanted: FrameRequest): Promise<void> {
    const steps = stepsOf(wanted);
    try {
      const query = queryText({ ...this.source.args, ...wanted, width: this.width });
      const response = await request(`${this.source.path}?${query}`, { signal: this.abort.signal });
      const frames = unpackFrames(await response.arrayBuffer());
      for (const { step, bytes } of frames) {
        // A copy: a view would keep the whole answer in memory.
        this.encoded.set(step, bytes.slice(), bytes.length, this.step);
      }
      const got = new Set(frames.map(({ step }) => step));
      // A frame that the server does not have is not asked for again.
      for (const step of steps) if (!got.has(step)) this.pending.add(step);
      this.failures = 0;
      this.error.value = undefined;
      this.decodeSome();
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.failures++;
      this.error.value = error instanceof ApiError ? error : new ApiError("page", String(error));
    }
  }
}
