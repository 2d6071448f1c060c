import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../lib/json";
import { messageOf } from "../../lib/error-message";
import { ownManifest } from "../../lib/own-manifest";
import { readGivenFile } from "../../lib/files";
import { plural } from "../../lib/text/plural";
import { readYamlOf } from "../../lib/yaml";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { type CheckedMachine, checkSsh } from "../init/check-ssh";
import type { Inventory } from "../init/plan/inventory";
import {
  type Changed,
  type FolderFacts,
  IGNORED,
  manifestFor,
  type OwnPackage,
  projectFor,
  STACK_FOLDER,
  stackFileFor,
} from "../init/plan/project-files";
import { readInventory } from "../init/plan/read-inventory";
import { answersFor, type GivenAnswers } from "../init/questions";
import { askText, print } from "../terminal/terminal";

export interface InitOptions extends GivenAnswers {
  /** A list of machines, in a format of its own or of another tool. */
  readonly from?: string;
  /** Whether to read the host keys of the machines. */
  readonly check: boolean;
}

/** What a run of the command uses of its process. */
interface InitContext {
  readonly folder: string;
  readonly say: (line: string) => void;
  readonly ask: typeof askText;
}

/**
 * Makes a folder of stack files: package.json, Pulumi.yaml and the stack file of a cluster on machines that exist. Asks
 * for what the options do not say, and overwrites no file.
 *
 * @returns the exit code
 */
export async function init(options: InitOptions, context: Partial<InitContext> = {}): Promise<number> {
  const { folder = process.cwd(), say = print, ask = askText } = context;
  const facts = readFolder(folder);
  const manifest = manifestFor(ownPackage(), path.basename(folder), facts);
  const project = projectFor(facts);
  refuse(manifest, project);
  const inventory = options.from === undefined ? undefined : await readList(options.from);
  const { stack, version, user, machines } = await answersFor(options, inventory, ask);
  const written = facts.project?.["stackConfigDir"];
  const stacks = facts.project === undefined ? STACK_FOLDER : typeof written === "string" ? written : "";
  const stackFile = path.join(stacks, `Pulumi.${stack}.yaml`);
  const existing = readMap(folder, stackFile);
  const named = facts.project?.["name"];
  const prefix = typeof named === "string" ? named : undefined;
  // what `pulumi stack init` writes
  if (Object.keys(existing ?? {}).some((key) => !/^(encryptionsalt|secretsprovider|encryptedkey)$/.test(key)))
    throw new UsageError(`${stackFile} has a configuration already; name another stack with --stack`);
  const checked: CheckedMachine[] = options.check
    ? await checkSsh(machines, user)
    : machines.map((machine) => ({ machine }));
  const cluster = {
    name: stack,
    version,
    user,
    machines: checked.map(({ machine, hostKey }) => ({
      ...machine,
      ...(hostKey !== undefined && { hostKey }),
    })),
  };
  const place = { folder: stacks, ...(prefix && { project: prefix }), ...(existing && { existing }) };
  const files: [string, Changed][] = [
    ["package.json", manifest],
    ["Pulumi.yaml", project],
    [".gitignore", existsSync(path.join(folder, ".gitignore")) ? undefined : { text: IGNORED }],
    [stackFile, { text: stackFileFor(cluster, place) }],
  ];
  for (const [name, file] of files)
    if (file !== undefined && "text" in file) {
      const target = path.join(folder, name);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, file.text, { flag: name === "Pulumi.yaml" ? "wx" : "w" });
      say(`wrote ${name}`);
    }
  for (const line of summary(checked, inventory, { stack, prefix })) say(line);
  return EXIT.done;
}

function summary(
  checked: readonly CheckedMachine[],
  inventory: Inventory | undefined,
  { stack, prefix = "foresail" }: { stack: string; prefix: string | undefined },
): string[] {
  const silent = checked.filter(({ why }) => why !== undefined);
  const keys = checked.flatMap(({ machine, hostKey }) =>
    hostKey === undefined ? [] : [`${machine.name}: ${machine.address} shows the host key ${hostKey}`],
  );
  return [
    ...keys,
    ...(keys.length > 0 ? ["compare these host keys with those on the machines"] : []),
    ...silent.map(({ machine, why }) => `${machine.name}: ${why}`),
    ...(silent.length > 0
      ? [
          `${plural(silent.length, "machine")} did not answer over SSH; correct the stack file before the first up`,
        ]
      : []),
    ...(inventory?.notes ?? []),
    "next:",
    "  npm install",
    `  pulumi stack init ${stack}`,
    `  pulumi config set --secret ${prefix}:sshPrivateKey < ~/.ssh/id_ed25519    # or use the SSH agent`,
    "  npx foresail preview",
    "  npx foresail up",
  ];
}

function refuse(...changes: readonly Changed[]): void {
  const refusals = changes.flatMap((change) =>
    change !== undefined && "refusal" in change ? [change.refusal] : [],
  );
  if (refusals.length > 0)
    throw new UsageError(`${refusals.join("; ")}. Nothing was written; run this in another folder`);
}

async function readList(file: string): Promise<Inventory> {
  const text = await readGivenFile(file, "the list of machines", "name it with --from");
  try {
    return readInventory(text);
  } catch (error) {
    throw new UsageError(`--from ${file}: ${messageOf(error)}`);
  }
}

function readFolder(folder: string): FolderFacts {
  const manifest = readMap(folder, "package.json");
  const project = readMap(folder, "Pulumi.yaml");
  const { main } = manifest ?? {};
  return {
    hasMain: typeof main === "string" && existsSync(path.join(folder, main)),
    ...(manifest && { manifest }),
    ...(project && { project }),
  };
}

/** Returns what a file of YAML or JSON has; undefined without the file, or an empty one. */
function readMap(folder: string, name: string): Record<string, unknown> | undefined {
  const file = path.join(folder, name);
  const content = existsSync(file) ? readYamlOf(name, readFileSync(file, "utf8")) : undefined;
  if (content === undefined || content === null) return undefined;
  if (!isObject(content)) throw new UsageError(`${name} is not a map; correct it first`);
  return content;
}

/** Returns what the folder's files depend on. */
export function ownPackage(): OwnPackage {
  const { version, peerDependencies, peerDependenciesMeta } = ownManifest();
  const needed = Object.entries(peerDependencies).filter(([name]) => !peerDependenciesMeta[name]?.optional);
  return { version, peers: Object.fromEntries(needed) };
}
