import path from "node:path/posix";
import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { isObject } from "../../../lib/json";
import type { InventoryMachine } from "./inventory";

/** The program of a folder of stack files, as its package.json names it. */
export const PROGRAM = "node_modules/foresail/program.cjs";

/** Where stack files are, in a folder that foresail makes. */
export const STACK_FOLDER = "stacks/config";

/** What foresail's own package.json says. */
export interface OwnPackage {
  readonly version: string;
  /** of the SDKs that a project shares with foresail: those that it can't do without */
  readonly peers: Readonly<Record<string, string>>;
}

/** What is in the folder already. */
export interface FolderFacts {
  /** the content of package.json */
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** whether the file is there that `main` of package.json names */
  readonly hasMain: boolean;
  /** the content of Pulumi.yaml */
  readonly project?: Readonly<Record<string, unknown>>;
}

/** A package.json with what a folder of stack files needs, or why it can't have that. */
export type Changed = { readonly text: string } | { readonly refusal: string } | undefined;

/**
 * Returns package.json for a folder of stack files; undefined when it is right already. What others wrote in it stays.
 *
 * @param name of the package, when there is none
 */
export function manifestFor(own: OwnPackage, name: string, { manifest = {}, hasMain }: FolderFacts): Changed {
  const { main } = manifest;
  if (main !== undefined && main !== PROGRAM && hasMain)
    return { refusal: `package.json has another program: "main": ${JSON.stringify(main)}` };
  const given = isObject(manifest["dependencies"]) ? manifest["dependencies"] : {};
  const dependencies = { foresail: `^${own.version}`, ...own.peers, ...given };
  const content = { name, private: true, ...manifest, main: PROGRAM, dependencies };
  if (isDeepStrictEqual(content, manifest)) return undefined;
  return { text: `${JSON.stringify(content, undefined, 2)}\n` };
}

/** Returns Pulumi.yaml for a folder of stack files; undefined when there is one already that runs foresail. */
export function projectFor({ project, manifest }: FolderFacts): Changed {
  if (project === undefined) return { text: PROJECT };
  const runsPackage = project["main"] === "node_modules/foresail";
  const isOwn = runsPackage || (project["main"] === undefined && manifest?.["main"] === PROGRAM);
  return isOwn ? undefined : { refusal: "Pulumi.yaml is there already, and its program is another one" };
}

/**
 * Pulumi.yaml of every folder of stack files, after its name and description. It names nothing in node_modules: before the
 * first `npm install` the engine would fail.
 */
const RUNTIME = `runtime:
  name: nodejs
  options:
    # package.json names foresail's program, which is compiled
    typescript: false
stackConfigDir: ${STACK_FOLDER}
`;

/** The project's name begins the keys of the configuration. */
const PROJECT = `name: foresail\ndescription: Kubernetes clusters, one stack a cluster\n${RUNTIME}`;

/** Returns the files of the template for `pulumi new`, which replaces the names in braces, by their names. */
export function templateFiles(own: OwnPackage): Record<string, string> {
  const manifest = manifestFor(own, "${PROJECT}", { hasMain: false });
  return {
    ".gitignore": IGNORED,
    "package.json": manifest !== undefined && "text" in manifest ? manifest.text : "",
    "Pulumi.yaml": `name: \${PROJECT}
description: \${DESCRIPTION}
${RUNTIME}template:
  description: Kubernetes clusters that you can preview, on machines that you have
  displayName: foresail
  quickstart: |
    Write the stack file of your first cluster:
      npx foresail init
`,
  };
}

/** What a folder of stack files keeps out of git. */
export const IGNORED = "node_modules/\n";

/** A cluster on machines that exist. */
export interface NewCluster {
  readonly name: string;
  readonly version: string;
  readonly user: string;
  readonly machines: readonly (InventoryMachine & { readonly hostKey?: string })[];
}

/** Where a stack file is to be. */
export interface StackFilePlace {
  /** from the project's folder */
  readonly folder?: string;
  /** the name of the project, which begins the keys */
  readonly project?: string;
  /** what the file has already, such as the salt that `pulumi stack init` writes */
  readonly existing?: Readonly<Record<string, unknown>>;
}

/** Returns the stack file of a cluster on machines that exist. */
export function stackFileFor(
  cluster: NewCluster,
  { folder = STACK_FOLDER, project = "foresail", existing = {} }: StackFilePlace = {},
): string {
  const { name, version, user, machines } = cluster;
  const schema = path.join(path.relative(folder, ""), "node_modules/foresail/docs/configuration.schema.json");
  const own = machines.map(({ user: other, ...machine }) => ({
    ...machine,
    ...(other !== undefined && other !== user && { user: other }),
  }));
  const config = isObject(existing["config"]) ? existing["config"] : {};
  const content = {
    ...existing,
    config: { ...config, [`${project}:cluster`]: { name, version, ssh: { user }, machines: own } },
  };
  return `# yaml-language-server: $schema=${schema}\n${stringify(content, { lineWidth: 0 })}`;
}
