/** Unpacks records whose float arrays follow a JSON header as float64 values, little-endian. */

/** Returns the record; each `{"$f64": [offset, length]}` of the header becomes a view of the data. */
export function unpack(buffer: ArrayBuffer): unknown {
  if (buffer.byteLength < 4) throw new Error("a packed record is shorter than its length field");
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new Error("a packed record is shorter than its header");
  const header: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return replaced(header, buffer, Math.ceil((4 + length) / 8) * 8);
}

function replaced(value: unknown, buffer: ArrayBuffer, start: number): unknown {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = replaced(value[i], buffer, start);
    return value;
  }
  if (value === null || typeof value !== "object") return value;
  const record = value as Record<string, unknown>;
  const place = record["$f64"];
  if (Array.isArray(place)) {
    const [offset, count] = place as [number, number];
    return new Float64Array(buffer, start + offset * 8, count);
  }
  for (const key of Object.keys(record)) record[key] = replaced(record[key], buffer, start);
  return record;
}
