import { isAlias, isMap, isScalar, isSeq, type Document, type LineCounter, type Node } from "yaml";
import { isObject } from "../json";
import type { ConfigurationPath, ValidationIssue } from "../validation/validation-issue";
import { lineCounterOf, readYamlDocument } from "../yaml";

/** Where a value is in a file. */
export interface Position {
  readonly line: number;
  /** What the file has for a number, as far as YAML reads it differently: "010", "1e3". */
  readonly source?: string;
}

/** A plain number in a file, with the path of its value. */
interface PlainNumber {
  readonly path: ConfigurationPath;
  readonly source: string;
}

/** The text of a stack file or layer, in which values are found. A text that is not YAML has none. */
export class WrittenText {
  private readonly document: Document.Parsed | undefined;
  private readonly lines: LineCounter;

  /** @param project begins the keys: "foresail" of "foresail:cluster" */
  constructor(
    text: string,
    private readonly project: string,
  ) {
    try {
      this.document = readYamlDocument(text, { merge: true });
    } catch {
      this.document = undefined;
    }
    this.lines = lineCounterOf(text);
  }

  /**
   * Returns where a value is, or the map in which it is missing; undefined if the file has another value there, since the
   * engine then has it from elsewhere.
   *
   * @param path begins with the key without the project
   * @param value what the engine has at the path
   */
  at(path: ConfigurationPath, value: unknown): Position | undefined {
    const [key = "", ...rest] = path;
    let found = this.keyAt(this.resolved(this.document?.contents), "config");
    for (const [index, part] of [this.keyName(String(key)), ...rest].entries()) {
      const next = this.keyAt(found?.node, part);
      // the last one may be missing: its map is the place to write it
      if (next === undefined)
        return index === rest.length && value === undefined ? this.position(found) : undefined;
      found = next;
    }
    return agrees(found?.node, value) ? this.position(found) : undefined;
  }

  /** Returns numbers with a zero before them, which YAML 1.1 reads as octal and YAML 1.2 as decimal. */
  octalNumbers(): PlainNumber[] {
    const config = this.keyAt(this.resolved(this.document?.contents), "config")?.node;
    if (!isMap(config)) return [];
    const found: PlainNumber[] = [];
    const open: [Node | null | undefined, ConfigurationPath][] = [];
    for (const { key, value } of config.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (name.startsWith(`${this.project}:`))
        open.push([value as Node, [name.slice(this.project.length + 1)]]);
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [node, path] = next;
      if (isScalar(node) && node.type === "PLAIN" && /^[-+]?0[0-7]+$/.test(node.source ?? ""))
        found.push({ path, source: node.source ?? "" });
      if (isSeq(node)) node.items.forEach((item, index) => open.push([item as Node, [...path, index]]));
      if (isMap(node))
        for (const { key, value } of node.items)
          open.push([value as Node, [...path, isScalar(key) ? String(key.value) : ""]]);
    }
    return found;
  }

  private keyName(key: string): string {
    return key.includes(":") ? key : `${this.project}:${key}`;
  }

  private resolved(node: unknown): Node | undefined {
    if (isAlias(node)) return this.document && node.resolve(this.document);
    return (node ?? undefined) as Node | undefined;
  }

  private keyAt(
    of: Node | undefined,
    part: string | number,
  ): { node: Node | undefined; start: number } | undefined {
    if (isSeq(of)) {
      const item = typeof part === "number" ? (of.items[part] as Node | undefined) : undefined;
      return item && { node: this.resolved(item), start: item.range?.[0] ?? 0 };
    }
    if (!isMap(of)) return undefined;
    const pair = of.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    if (pair === undefined) return undefined;
    return { node: this.resolved(pair.value), start: (pair.key as Node).range?.[0] ?? 0 };
  }

  private position(found: { node: Node | undefined; start: number } | undefined): Position | undefined {
    if (found === undefined) return undefined;
    const { line } = this.lines.linePos(found.start);
    const { node } = found;
    const source = isScalar(node) && node.type === "PLAIN" ? node.source : undefined;
    const isNumber = source !== undefined && /^[-+]?[0-9.][-+\w.]{0,39}$/.test(source);
    return isNumber && source !== String(Number(source)) ? { line, source } : { line };
  }
}

/** Returns whether a node has the kind of a value, and its text. */
function agrees(node: Node | undefined, value: unknown): boolean {
  if (Array.isArray(value)) return isSeq(node) && node.items.length === value.length;
  if (isObject(value)) return isMap(node);
  if (typeof value === "string")
    return isScalar(node) && (String(node.value) === value || node.source === value);
  return value === undefined || value === null || (isScalar(node) && node.type === "PLAIN");
}

/** Returns the words for where an issue is: " (line 12)" or " (line 12, written as 010)". */
export const positionText = ({ line, source }: Position): string =>
  ` (line ${line}${source === undefined ? "" : `, written as ${source}`})`;

/** Returns the issue of each number with a zero before it. */
export function octalIssues(text: WrittenText | undefined): ValidationIssue[] {
  return (text?.octalNumbers() ?? []).map(({ path, source }) => {
    const octal = parseInt(source, 8);
    const decimal = parseInt(source, 10);
    return {
      path,
      message: `${source} is ${octal} for the YAML of stack files, which reads it as octal; write ${octal} or ${decimal}, or put it in quotes`,
    };
  });
}
