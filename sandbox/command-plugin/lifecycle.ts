/** Create, update and delete of the served resources: which commands run, and which outputs result. */
import { randomBytes } from "node:crypto";
import type { CommandOutput } from "./captured-output.js";
import { chooseCommand, type Operation } from "./command-inputs.js";
import type { ResourceLog } from "./engine-log.js";
import { COPY_TO_REMOTE, REMOTE_COMMAND } from "./resource-types.js";
import {
  containsUnknown,
  isObject,
  reveal,
  sameValue,
  UNKNOWN,
  type Properties,
  type Value,
} from "./wire.js";

export interface Work {
  readonly type: string;
  readonly log: ResourceLog;
  /** Ends waits for connections, and local commands. */
  readonly signal: AbortSignal;
}

/** An id in the form of 1.2.1: the resource's name and eight hexadecimal digits; copies have the digits only. */
export function newId(type: string, name: string): string {
  return (type === COPY_TO_REMOTE ? "" : name) + randomBytes(4).toString("hex");
}

/** The outputs a create will have, as far as a preview can know them. */
export function previewCreate(type: string, inputs: Properties): Properties {
  return type === COPY_TO_REMOTE ? inputs : { ...inputs, stdout: UNKNOWN, stderr: UNKNOWN };
}

/** The outputs an update will have: what the command prints is unknown when any input changes. */
export function previewUpdate(type: string, olds: Properties, news: Properties): Properties {
  if (type === COPY_TO_REMOTE) return news;
  const changed = Object.entries(news).some(
    ([name, value]) => containsUnknown(value) || (olds[name] !== undefined && !sameValue(value, olds[name])),
  );
  if (changed) return { ...news, stdout: UNKNOWN, stderr: UNKNOWN };
  return { ...news, stdout: olds["stdout"] ?? "", stderr: olds["stderr"] ?? "" };
}

/** Creates the resource. @returns its outputs: the inputs with their marks, and what the command printed */
export async function create(work: Work, inputs: Properties): Promise<Properties> {
  if (work.type === COPY_TO_REMOTE) {
    await copy(work, inputs);
    return inputs;
  }
  return { ...inputs, ...(await runCommand("create", work, inputs, { stdout: "", stderr: "" })) };
}

/** Updates the resource from its old outputs to new inputs. @returns its outputs */
export async function update(work: Work, olds: Properties, news: Properties): Promise<Properties> {
  if (work.type === COPY_TO_REMOTE) {
    const moved = !sameValue(reveal(olds["remotePath"] ?? null), reveal(news["remotePath"] ?? null));
    if (moved || hashOf(olds["source"]) !== hashOf(news["source"])) await copy(work, news);
    return news;
  }
  const printed = { stdout: olds["stdout"] ?? "", stderr: olds["stderr"] ?? "" };
  const result = await runCommand("update", work, news, reveal(printed) as unknown as CommandOutput);
  return { ...news, ...(result ?? printed) };
}

/** Runs the delete command, if there is one. */
export async function remove(work: Work, olds: Properties): Promise<void> {
  if (work.type === COPY_TO_REMOTE) return;
  const printed = reveal({ stdout: olds["stdout"] ?? "", stderr: olds["stderr"] ?? "" });
  await runCommand("delete", work, olds, printed as unknown as CommandOutput);
}

async function runCommand(
  operation: "create",
  work: Work,
  properties: Properties,
  previous: CommandOutput,
): Promise<Properties>;
async function runCommand(
  operation: Operation,
  work: Work,
  properties: Properties,
  previous: CommandOutput,
): Promise<Properties | undefined>;
async function runCommand(
  operation: Operation,
  work: Work,
  properties: Properties,
  previous: CommandOutput,
): Promise<Properties | undefined> {
  const command = chooseCommand(operation, properties);
  if (command === undefined) return operation === "create" ? { ...previous } : undefined;
  const inputs = reveal(properties) as never;
  if (work.type === REMOTE_COMMAND) {
    const { runRemoteCommand } = await import("./remote-command.js");
    return { ...(await runRemoteCommand(command, inputs, previous, work.log, work.signal)) };
  }
  const { runLocalCommand } = await import("./local-command.js");
  return { ...(await runLocalCommand(command, inputs, previous, work.log, work.signal)) };
}

async function copy(work: Work, inputs: Properties): Promise<void> {
  const { copyToRemote } = await import("./copy-to-remote.js");
  await copyToRemote(reveal(inputs) as never, work.log, work.signal);
}

function hashOf(source: Value | undefined): Value | undefined {
  const plain = reveal(source ?? null);
  return isObject(plain) ? plain["hash"] : undefined;
}
