import type { FileState } from "../../../../lib/text/unified-diff";
import { DIFFERENCES, type DriftAnswer, type DriftedFile } from "../../plan/drift/drift";
import { reading } from "../adoption/adoption-steps";
import { type Script, step } from "../steps";

/** Reads what others changed in the files that foresail wrote, for parseDriftAnswer. Writes nothing. */
export const driftScript = reading("drift");

/** Takes a file as it is on the machine for the one that foresail wrote. Its answer is empty. */
export const acceptDriftScript = (cluster: string, machine: string, file: string): Script =>
  step("drift-accept", cluster, machine, { FILE: file });

/** Names of files whose content is never shown, whatever is in them. */
const SECRET_NAMES = /secret|tokens?\b|passw|credential|htpasswd|\.(?:key|pem|p12)$/i;

/**
 * Parses the answer of driftScript.
 *
 * @param secretFiles paths of files whose content is secret
 * @throws Error when it is none
 */
export function parseDriftAnswer(answer: string, secretFiles: readonly string[] = []): DriftAnswer {
  const lines = answer.split("\n").filter((line) => line !== "");
  if (lines.includes("unsupported")) return { unknown: "unsupported" };
  if (lines.includes("at-work")) return { unknown: "at work" };
  const files = lines.map(parseLine);
  return {
    files: files.map((file) => (secretFiles.includes(file.path) ? { ...file, isSecret: true } : file)),
  };
}

function parseLine(line: string): DriftedFile {
  const [word, encodedPath = "", ...states] = line.split(" ");
  const kind = DIFFERENCES.find((one) => one === word);
  if (kind === undefined || states.length !== 4)
    throw new Error("the node agent's answer about drift can't be read");
  const [beforeMode = "", before = "", afterMode = "", after = ""] = states;
  const path = decoded(encodedPath);
  const old = stateOf(beforeMode, before, "as foresail wrote it");
  const now = stateOf(afterMode, after, "as it is");
  return {
    kind,
    path,
    ...(old ? { before: old } : {}),
    ...(now ? { after: now } : {}),
    ...(SECRET_NAMES.test(path) ? { isSecret: true } : {}),
  };
}

function stateOf(access: string, text: string, which: string): FileState | undefined {
  if (access === "-") return undefined;
  const content = text === "-" ? `too large to be shown, ${which}\n` : decoded(text);
  return { content, mode: access.replace(",", " ") };
}

const decoded = (text: string): string => Buffer.from(text, "base64").toString("utf8");
