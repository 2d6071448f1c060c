import { readFileSync } from "node:fs";
import path from "node:path";
import type { Generation } from "../../providers/tumblebug/plan/model";

const FOLDER = path.join(__dirname, "../../../test/fixtures/tumblebug");
const FILES: Readonly<Record<Generation, string>> = {
  mcis: "mcis-v0.7.0.jsonl",
  infra: "infra-v0.13.0-21.jsonl",
};

/** One request to a real server, and its answer. */
export interface Recording {
  /** from 1, as editors count */
  readonly line: number;
  readonly method: string;
  /** below the server's address, from "/" */
  readonly path: string;
  /** the body that was sent; undefined without one */
  readonly request: unknown;
  readonly status: number;
  readonly milliseconds: number;
  /** the body as it came; one of more than 6,000 characters was cut, and is closed again after its last whole value */
  readonly text: string;
  readonly isCut: boolean;
  /** the same, with a mark in each object and list that was cut */
  readonly marked: string;
}

/** Replaces what was truncated: a field of an object, or an item of a list. */
export const CUT = "…";

/** Every line that was recorded from the server of a generation, in order. */
export function readRecordings(generation: Generation): Recording[] {
  const lines = readFileSync(path.join(FOLDER, FILES[generation]), "utf8").trim().split("\n");
  return lines.map((text, index) => {
    const raw = JSON.parse(text) as Record<string, string | number>;
    const [response, request] = [String(raw["response"]), String(raw["request"])];
    const isCut = response.endsWith(CUT);
    return {
      line: index + 1,
      method: String(raw["method"]),
      path: String(raw["path"]).replace(/^\/tumblebug/, ""),
      request: request === "" ? undefined : (JSON.parse(request) as unknown),
      status: Number(raw["status"]),
      milliseconds: Number(raw["milliseconds"]),
      text: isCut ? close(response, false) : response,
      isCut,
      marked: isCut ? close(response, true) : response,
    };
  });
}

/** Truncates a text to its last complete value, and closes what is open there. */
function close(text: string, isMarked: boolean): string {
  const open: string[] = [];
  let safe = { end: 0, open: [] as string[] };
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === "\\") at += 1;
    else if (character === '"') isString = !isString;
    else if (isString) continue;
    else if (character === "{" || character === "[") open.push(character);
    else if (character === "}" || character === "]") {
      open.pop();
      safe = { end: at + 1, open: [...open] };
    } else if (character === ",") safe = { end: at, open: [...open] };
  }
  const closing = safe.open.reverse().map((each) => {
    if (each === "{") return isMarked ? `,"${CUT}":true}` : "}";
    return isMarked ? `,"${CUT}"]` : "]";
  });
  return `${text.slice(0, safe.end)}${closing.join("")}`;
}
