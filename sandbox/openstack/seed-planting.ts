import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createHash } from "node:crypto";
import { pythonSources } from "./paths";
import { planSeed } from "./seed";
import { pythonEnvironment } from "./service-processes";
import { writePrivate } from "../private-file";
import type { CloudPaths, CloudSettings } from "./settings";

/** The created objects of the seed: ids in keystone. */
export interface Planted {
  readonly project: string;
  /** of the application credential */
  readonly credential: string;
  /** Changes with the seed. */
  readonly seed: string;
}

const SECONDS = 300;

/**
 * Creates the catalog, or what a cloud's operator sets up; does nothing when the same seed was applied already.
 * @throws Error with the last output lines of the program
 */
export async function plantSeed(
  part: "catalog" | "content",
  python: string,
  paths: CloudPaths,
  settings: CloudSettings,
): Promise<Planted> {
  const input = JSON.stringify(planSeed(settings));
  const seed = createHash("sha256").update(input).digest("hex");
  const before = await readFile(paths.seeded, "utf8").then(
    (text) => JSON.parse(text) as Planted,
    () => undefined,
  );
  if (before?.seed === seed) return before;
  const output = await runSeed(part, input, python, paths, settings);
  const planted = { ...(JSON.parse(output) as Omit<Planted, "seed">), seed };
  if (part === "content") await writePrivate(paths.seeded, `${JSON.stringify(planted)}\n`);
  return planted;
}

/** Passes the passwords on standard input, because all users can read arguments. */
function runSeed(
  part: string,
  input: string,
  python: string,
  paths: CloudPaths,
  settings: CloudSettings,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [path.join(pythonSources, "seed.py"), part], {
      env: pythonEnvironment(paths, settings),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), SECONDS * 1000);
    const output: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) return resolve(Buffer.concat(output).toString());
      const words = Buffer.concat(errors).toString().trim().split("\n").slice(-8).join("\n");
      reject(new Error(`the cloud's ${part} could not be made (${code ?? "killed"}):\n${words}`));
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
