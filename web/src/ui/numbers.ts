/** Numbers as text, formatted exactly as the command line does (gymnast.metrics.metric and
 * gymnast.text.formatting). Pure functions. */

/** The part of a metric that formatting needs. */
export interface MetricFormat {
  unit: string;
  digits: number;
}

/** Formats a value of a metric for display: rounded, with its unit. */
export function formatMetric(metric: MetricFormat, value: number): string {
  const [number, unit] = metricParts(metric, value);
  return unit === "" || unit === "%" ? number + unit : `${number} ${unit}`;
}

/** Returns the formatted number and the unit separately, for views that align them. */
export function metricParts(metric: MetricFormat, value: number): [number: string, unit: string] {
  if (metric.unit === "s" && value >= 60 && value < Infinity) return [formatDuration(value), ""];
  const isShare = metric.unit === "share";
  return isShare ? [percentage(value * 100, metric.digits), "%"] : [rounded(value, metric.digits), metric.unit];
}

/** Formats a percentage like `rounded`, but without exponents for values close to 0. */
function percentage(value: number, digits: number): string {
  const smallest = 0.001;
  if (value !== 0 && Math.abs(value) < smallest) return value > 0 ? `<${smallest}` : `>-${smallest}`;
  return rounded(value, digits);
}

/** Formats a number with `digits` decimals, or with three significant digits if those would be too few. */
export function rounded(value: number, digits: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  if (Math.abs(value) >= 1e12) return exponential(value, 2);
  if (value !== 0 && Math.abs(value) < Math.min(1, 10 ** (1 - digits))) return general(value, 3);
  return fixed(value + 0, digits);
}

/** Formats a number with two decimals below ten, one below a thousand, none above. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size < 10 ? 2 : size < 1000 ? 1 : 0);
}

/** Formats a mean with its 95 % interval, if it has one. */
export function formatInterval(mean: number, low: number, high: number): string {
  if (!Number.isFinite(low)) return formatNumber(mean);
  return `${formatNumber(mean)} [${formatNumber(low)}, ${formatNumber(high)}]`;
}

/** Formats a count: `1,000,000`; a dash for null. */
export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : fixed(value, 0);
}

/** Formats an area under the learning curve. */
export function formatArea(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : fixed(value, 2).replaceAll(",", "");
}

/** Formats a number of bytes in decimal units. */
export function formatSize(bytes: number): string {
  let rest = bytes;
  for (const unit of ["B", "kB", "MB"]) {
    if (rest < 1000) return `${fixed(rest, unit === "B" ? 0 : 1).replaceAll(",", "")} ${unit}`;
    rest /= 1000;
  }
  return `${fixed(rest, 1).replaceAll(",", "")} GB`;
}

/** Formats a time in one or two units: `4.2 s`, `2 min 5 s`, `3 h 20 min`, `5 d`; a dash for null. */
export function formatDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "-";
  if (!Number.isFinite(seconds)) return notFinite(seconds);
  if (seconds < 60) return `${fixed(seconds, seconds < 10 ? 1 : 0)} s`;
  const whole = Number(fixed(seconds, 0).replaceAll(",", ""));
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return minutes < 10 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

/** Formats an age in its largest whole unit: `3 d`, `20 s`, and `now` below 10 seconds. */
export function formatAge(seconds: number): string {
  for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "min"]] as const) {
    if (seconds >= unit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  return seconds < 10 ? "now" : `${fixed(seconds, 0)} s`;
}

/** Returns a number with all its digits, as the record has it. */
export function fullPrecision(value: number): string {
  return Number.isFinite(value) ? String(value) : notFinite(value);
}

/** Formats a large number briefly, for axes: `1.5M`, `200k`. */
export function formatShort(value: number): string {
  const size = Math.abs(value);
  for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (size >= unit) return `${trimmed((value / unit).toPrecision(size / unit >= 1000 ? 4 : 3))}${name}`;
  }
  if (size !== 0 && size < 1e-3) return value.toExponential(1).replace(".0e", "e");
  return trimmed(value.toPrecision(4));
}

/** Returns the words for a clock: `env steps`, and `gradient steps` for updates. */
export function clockLabel(clock: string): string {
  return clock === "updates" ? "gradient steps" : clock.replaceAll("_", " ");
}

function trimmed(text: string): string {
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

function notFinite(value: number): string {
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/** Python's `f"{value:,.{digits}f}"`: half to even, with thousands separators. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  if (Math.abs(value) >= 1e21) return BigInt(value).toLocaleString("en-US") + (digits ? `.${"0".repeat(digits)}` : "");
  const text = halfToEven(value.toFixed(digits), value.toFixed(Math.min(100, digits + 30)), digits);
  const [whole = "", rest] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  // JavaScript drops the sign of a number that rounds to zero only for -0 itself.
  const sign = Object.is(value, -0) ? "-" : "";
  return sign + (rest === undefined ? grouped : `${grouped}.${rest}`);
}

/** Returns the text with the last digit even if the exact value is halfway between two. JavaScript rounds
 * such values away from zero, Python to even. */
function halfToEven(text: string, exact: string, digits: number): string {
  const tail = exact.slice(exact.indexOf(".") + 1 + digits);
  if (!/^50*$/.test(tail)) return text;
  const kept = exact.slice(0, exact.indexOf(".") + 1 + digits).replace(/\.$/, "");
  return Number(kept.at(-1)) % 2 === 0 ? kept : text;
}

/** Python's `f"{value:.{digits}e}"`. */
function exponential(value: number, digits: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(digits).split("e");
  const exact = value.toExponential(Math.min(100, digits + 30)).split("e");
  const even = exact[1] === exponent ? halfToEven(mantissa, exact[0] ?? "", digits) : mantissa;
  const size = Math.abs(Number(exponent));
  return `${even}e${Number(exponent) < 0 ? "-" : "+"}${String(size).padStart(2, "0")}`;
}

/** Python's `f"{value:.{precision}g}"`. */
function general(value: number, precision: number): string {
  const [mantissa = "", exponent = "0"] = exponential(value, precision - 1).split("e");
  const power = Number(exponent);
  const isPlain = power >= -4 && power < precision;
  if (!isPlain) return `${mantissa.replace(/\.?0+$/, "")}e${exponent}`;
  const decimals = Math.max(0, precision - 1 - power);
  return trimmed(Number(`${mantissa}e${exponent}`).toFixed(decimals));
}
