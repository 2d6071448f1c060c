import { shortHash } from "../../../lib/short-hash";
import { quoted } from "../../../lib/text/quote";

/** Maximum length of a name in most clouds, including the namespace and a dash, which Tumblebug adds as a prefix. */
const LONGEST = 63;

/** Shorter maximum lengths, by the server's name of the cloud; in characters, including the namespace. */
const SHORTER: Readonly<Record<string, number>> = { ncp: 30, ncpvpc: 30, tencent: 60 };

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

export function tumblebugNameIssue(name: string): string | undefined {
  if (name === "") return "must not be empty";
  return NAME.test(name)
    ? undefined
    : `${quoted(name)} is not a name for Tumblebug; write lower-case letters, digits and dashes, with a letter first and no dash last`;
}

/** Returns a cloud's maximum length of names, including namespace and dashes. */
export function longestName(provider: string): number {
  return SHORTER[provider] ?? LONGEST;
}

/** Returns the name of a VM in the cloud, to which the cloud's length limit applies. */
export function cloudVmName(namespace: string, infrastructure: string, vm: string): string {
  return [namespace, infrastructure, vm].join("-");
}

/** Converts a text to characters that Tumblebug accepts: "t3.medium" to "t3-medium". */
function plainWord(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

const HASH_LENGTH = 6;

/**
 * Returns the name of an object, which is the same in every run: its parts joined with dashes. If the name is too
 * long or needs other characters, it ends with a hash of the parts, so that different parts have different names.
 *
 * @param room maximum number of characters
 */
export function nameFromParts(parts: readonly string[], room: number): string {
  const words = parts.map(plainWord).filter((word) => word !== "");
  const name = words.join("-");
  const plain = parts.every((part, index) => part === words[index]);
  if (plain && name.length <= room && NAME.test(name)) return name;
  const begin = /^[a-z]/.test(name) ? name : `x${name}`;
  const short = begin.slice(0, room - HASH_LENGTH - 1).replace(/-+$/, "");
  return `${short}-${shortHash(parts, HASH_LENGTH)}`;
}

/** Names of the objects in a connection that VMs are created from. */
export interface ConnectionNames {
  vNet: string;
  subnet: string;
  /** Security group of all machines. */
  nodes: string;
  /** Additional security group of control planes. */
  controlPlanes: string;
  sshKey: string;
}

/** Returns the names of a connection's objects. @param prefix the cluster's name, or a prefix that clusters share */
export function connectionNames(namespace: string, prefix: string, connection: string): ConnectionNames {
  const name = (suffix: string) =>
    nameFromParts([prefix, connection, suffix], LONGEST - namespace.length - 1);
  return {
    vNet: name("vpc"),
    subnet: name("subnet"),
    nodes: name("sg"),
    controlPlanes: name("control-planes-sg"),
    sshKey: name("sshkey"),
  };
}

/** Returns the name of the object for a machine type or an image in a connection. */
export const registeredName = (
  kind: "spec" | "image",
  ...[namespace, prefix, connection, value]: readonly [string, string, string, string]
): string => nameFromParts([prefix, connection, value, kind], LONGEST - namespace.length - 1);
