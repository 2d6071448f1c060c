import { homedir } from "node:os";
import path from "node:path";

/** The folder that holds package.json; this file runs from bin/sandbox/nodes/. */
export const projectFolder = path.resolve(__dirname, "..", "..", "..");

const sandboxFolder = path.join(projectFolder, ".sandbox");

/** The folder that all projects of this user share: images, bundles, containerd's content. */
export const cacheFolder = path.join(
  process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"),
  "foresail",
);

/** The bundles, one folder a version; mounted read-only into every node. */
export const bundlesFolder = path.join(cacheFolder, "bundles");

/** The path of the bundles on a node. */
export const BUNDLES_IN_NODE = "/opt/foresail/bundle";

/** The private key for every node of this project (0600); the public key is beside it. */
export const nodeKeyFile = path.join(sandboxFolder, "ssh", "id_ed25519");

/** The folder of a system's nodes. */
export function systemFolder(system: string): string {
  return path.join(sandboxFolder, "nodes", system);
}

/** The folder of one node: its host key, its record, its share of containerd's content. */
export function nodeFolder(system: string, node: string): string {
  return path.join(systemFolder(system), node);
}
