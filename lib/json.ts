/** Returns whether a value is an object with named fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns what a table has for a name from outside, which may be one that every object inherits, such as "toString". */
export const ownValue = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** What walks through values recurses. */
const MOST_LEVELS = 500;

/**
 * Returns the value that a text encodes as JSON; undefined if it is not JSON, or nested too deep.
 *
 * @param levels how deep at most; default: 500
 */
export function parseJson(text: string, levels = MOST_LEVELS): unknown {
  if (isTooDeep(text, levels)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the value that a text from outside encodes as JSON.
 *
 * @param source begins the message of an error: "the output of pulumi stack export"
 * @throws Error for a text that is not JSON, or nested more than 500 levels deep
 */
export function readJsonOf(source: string, text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new Error(`${source} is not JSON, or is nested more than ${MOST_LEVELS} levels deep`);
}

/**
 * Returns the object that a text from outside encodes as JSON, as {@link readJsonOf} does.
 *
 * @throws Error also for another value
 */
export function readJsonObjectOf(source: string, text: string): Record<string, unknown> {
  const value = readJsonOf(source, text);
  if (isObject(value)) return value;
  throw new Error(`${source} is not a JSON object`);
}

function isTooDeep(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfText(text, at);
    else if (unit === BRACKET || unit === BRACE) {
      if (++depth > levels) return true;
    } else if (unit === BRACKET + 2 || unit === BRACE + 2) depth--;
  }
  return false;
}

const QUOTE = 34;
const BACKSLASH = 92;
const BRACKET = 91;
const BRACE = 123;

/** Returns the position of the quote that ends a text, or that of the end. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === QUOTE) return at;
  }
  return text.length;
}

/** Returns a copy of a plain value with another text for each of its texts; names of fields stay. */
export function mapTexts<Value>(value: Value, map: (text: string) => string): Value {
  if (typeof value === "string") return map(value) as Value;
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, map)) as Value;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)])) as Value;
}

/** Returns JSON with the keys of objects in order: the same value always has the same text. */
export const stableJson = (value: unknown): string => JSON.stringify(value, sorted);

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
