/** The frames of `GET api/episode-frames`: uint32 count, then per frame uint32 step, uint32 length and the bytes of
 * its picture, all little endian. Pure functions. */

export interface EncodedFrame {
  step: number;
  /** The picture as PNG or JPEG; a view of the answer, not a copy. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Returns the frames of an answer. Throws if it is cut off. */
export function unpackFrames(answer: ArrayBuffer): EncodedFrame[] {
  const view = new DataView(answer);
  const frames: EncodedFrame[] = [];
  let at = 4;
  for (let left = view.getUint32(0, true); left > 0; left--) {
    const step = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    frames.push({ step, bytes: new Uint8Array(answer, at + 8, length) });
    at += 8 + length;
  }
  return frames;
}

/** Returns the media type of a picture, from its first byte. */
export function mediaType(bytes: Uint8Array): string {
  return bytes[0] === 0xff ? "image/jpeg" : "image/png";
}
