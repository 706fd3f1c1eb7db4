/** Addresses of the app: paths relative to the prefix under which it is served. */

export interface Route {
  /** Path without the prefix, with a leading slash: `/run/k3jx81qa/charts`. */
  path: string;
  params: URLSearchParams;
}

/** Returns the path below the prefix. `base`: path of <base href>, with a trailing slash. */
export function pathBelow(base: string, pathname: string): string {
  const rest = pathname.startsWith(base) ? pathname.slice(base.length) : pathname.replace(/^\//, "");
  const path = `/${rest}`;
  return path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
}

/** Returns the values of a pattern such as `/run/:id/:tab?` in a path; null if it does not match. */
export function matched(pattern: string, path: string): Record<string, string> | null {
  const names = pattern.split("/").filter(Boolean);
  const parts = path.split("/").filter(Boolean);
  if (parts.length > names.length) return null;
  const values: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const part = parts[i];
    const isOptional = name.endsWith("?");
    if (part === undefined) {
      if (isOptional) continue;
      return null;
    }
    if (!name.startsWith(":")) {
      if (name !== part) return null;
      continue;
    }
    try {
      values[name.slice(1, isOptional ? -1 : undefined)] = decodeURIComponent(part);
    } catch {
      return null;
    }
  }
  return values;
}

/** Returns a path with parameters: those that are empty, null or undefined are left out. Commas and colons
 * stay readable. */
export function pathWith(path: string, params: Record<string, string | number | null | undefined>): string {
  const query = Object.entries(params)
    .filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${readable(String(value))}`)
    .join("&");
  return query ? `${path}?${query}` : path;
}

/** Returns names as one parameter: `a,b`. Names are free text, so a comma inside of one is escaped. */
export function joinedList(names: readonly string[]): string {
  return names.map((name) => name.replace(/%/g, "%25").replace(/,/g, "%2C")).join(",");
}

/** Returns the names of a parameter that `joinedList` wrote, each once. */
export function listOf(text: string | null): string[] {
  const names = (text ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map((name) => name.replace(/%2C/gi, ",").replace(/%25/g, "%"));
  return [...new Set(names)];
}

function readable(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A|2F|40)/g, (code) => decodeURIComponent(code));
}

/** Returns the path of a run's page. */
export function runPath(id: string, tab = ""): string {
  const path = `/run/${encodeURIComponent(id)}`;
  return tab ? `${path}/${tab}` : path;
}
