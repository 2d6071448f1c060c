import { z } from "zod";
import { isFromOver } from "../../lib/layers/merge";
import {
  acceptedKubeconfig,
  FetchedKubeconfig,
  KubeconfigRefused,
} from "../../lib/kubernetes/fetched-kubeconfig";
import {
  type Filled,
  fillShared,
  isReference,
  type SharedStack,
  type SharedStacks,
  SHARED_KEY,
} from "../../lib/layers/shared-values";
import { stackNameIssue } from "../../lib/layers/stack-name";
import { qualifiedName, readStackOutputs } from "../../lib/pulumi/stack";
import { check, type Reading } from "../../lib/validation/check";
import { issueAt } from "../../lib/validation/validation-issue";
import { type ConfigurationFiles, type FileIssue, inFile, MergedKeys, readFiles } from "./files";
import { CONFIGURATION_KEYS, type ConfigurationKey, type KeyName } from "./keys";
import type { ConfigurationReader } from "./reader";
import { keyRule, text } from "./rule";

/** Schema of `foresail:shared`. */
export const SharedSources = keyRule(z.record(z.string(), text(stackNameIssue)), (name) =>
  /^[A-Za-z][A-Za-z0-9_-]{0,62}$/.test(name)
    ? undefined
    : "is not a name for ${shared.NAME.OUTPUT}; write a letter, then letters, digits, - and _",
);

/**
 * Reads the outputs of the stacks that `foresail:shared` names.
 *
 * @param readStack reads the outputs of a stack by the name in the configuration
 * @returns a reader with them; the same one when there is none to read, or `foresail:shared` is not valid
 */
export async function withShared(
  reader: ConfigurationReader,
  readStack: (name: string) => Promise<SharedStack> = readSharedStack,
): Promise<ConfigurationReader> {
  const { value: sources = {} } = readSources(readFiles(reader));
  if (Object.keys(sources).length === 0) return reader;
  const stacks = Object.entries(sources).map(
    async ([name, stack]) => [name, await readStack(stack)] as const,
  );
  return { ...reader, shared: Object.fromEntries(await Promise.all(stacks)) };
}

async function readSharedStack(name: string): Promise<SharedStack> {
  const stack = qualifiedName(name);
  const found = await readStackOutputs(stack);
  return { stack, ...(found && { outputs: found.outputs, secrets: found.secretOutputNames }) };
}

function readSources(files: ConfigurationFiles): Reading<Record<string, string>> {
  return check(SharedSources, new MergedKeys(files).value(SHARED_KEY) ?? {}, [SHARED_KEY]);
}

/** Fills the values of both files with outputs of other stacks. */
export function fillFiles(
  files: ConfigurationFiles,
  shared: SharedStacks | undefined,
): { files: ConfigurationFiles; issues: FileIssue[] } {
  const { stack, layer } = files;
  const { value: sources, issues } = readSources(files);
  const merged = new MergedKeys(files);
  const inShared = [...issues, ...(sources === undefined ? [] : unreadSources(sources, shared))];
  if (inShared.length > 0) return { files, issues: inShared.map((issue) => merged.locate(issue)) };
  const upper = fillValues(stack.values, shared);
  const lower = fillValues(layer?.values ?? {}, shared);
  // what the stack file replaces does not matter
  const own = lower.issues.filter(({ path }) => !isFromOver(layer?.values, stack.values, path));
  return {
    files: {
      ...files,
      stack: { ...stack, values: upper.values },
      ...(layer && { layer: { ...layer, values: lower.values } }),
    },
    issues: [...inFile(stack.file, upper.issues), ...inFile(layer?.file ?? "", own)],
  };
}

function unreadSources(sources: Record<string, string>, shared: SharedStacks | undefined) {
  if (shared === undefined)
    return Object.keys(sources).length === 0
      ? []
      : issueAt([SHARED_KEY], "is not supported by this reader of the configuration; remove it");
  return Object.entries(shared).flatMap(([name, { stack, outputs }]) =>
    outputs === undefined
      ? issueAt([SHARED_KEY, name], `there is no stack ${stack}; create it first, or correct the name`)
      : [],
  );
}

/** Keys whose values are kubeconfigs. */
const KUBECONFIGS = ["managementKubeconfig", "workloadKubeconfig"];

/**
 * Reads a kubeconfig from another stack's output like one that a cluster serves: anyone who can write to that stack could
 * run a program where this one runs.
 */
function accepted(key: string, reference: unknown, { value, issues }: Filled): Filled {
  if (typeof value !== "string") return { value, issues };
  try {
    return { value: acceptedKubeconfig(new FetchedKubeconfig(nameOf(reference), value)), issues };
  } catch (error) {
    if (!(error instanceof KubeconfigRefused)) throw error;
    return { value: reference, issues: [...issues, ...issueAt([key], error.message)] };
  }
}

const nameOf = (reference: unknown) =>
  isReference(reference) ? reference : "the value with the outputs of other stacks";

type Values = Partial<Record<KeyName, unknown>>;

/** Fills the keys that systems read; the others, such as labels, are read from the files alone. */
function fillValues(values: Values, stacks: SharedStacks | undefined) {
  const filled = Object.entries(values).map(([key, value]) => {
    const { systems, secret }: ConfigurationKey = CONFIGURATION_KEYS[key as KeyName];
    const isRead = systems !== undefined;
    const of = isRead ? fillShared(value, [key], { stacks, isSecret: secret }) : { value, issues: [] };
    return [key, KUBECONFIGS.includes(key) && of.value !== value ? accepted(key, value, of) : of] as const;
  });
  return {
    values: Object.fromEntries(filled.map(([key, { value }]) => [key, value])) as Values,
    issues: filled.flatMap(([, { issues }]) => issues),
  };
}
