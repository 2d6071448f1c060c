import { shortHash } from "../../../lib/short-hash";
import { quoted } from "../../../lib/text/quote";

/** The longest name that most clouds take: Tumblebug puts the namespace and a dash in front of every name. */
const LONGEST = 63;

/** Clouds with a shorter limit, by the server's name of the provider; in characters, with the namespace in front. */
const SHORTER: Readonly<Record<string, number>> = { ncp: 30, ncpvpc: 30, tencent: 60 };

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** What is wrong with a name in Tumblebug, or undefined. */
export function tumblebugNameIssue(name: string): string | undefined {
  if (name === "") return "must not be empty";
  return NAME.test(name)
    ? undefined
    : `${quoted(name)} is no name for Tumblebug; write lower-case letters, digits and dashes, with a letter first and no dash last`;
}

/** The most characters that a cloud takes, namespace and dashes included. */
export function longestName(provider: string): number {
  return SHORTER[provider] ?? LONGEST;
}

/** How a VM is called in the cloud, by which the cloud's limit counts. */
export function cloudVmName(namespace: string, infrastructure: string, vm: string): string {
  return [namespace, infrastructure, vm].join("-");
}

/** What a name has to be in letters that Tumblebug takes: "t3.medium" is "t3-medium". */
function plainWord(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

const HASH_LENGTH = 6;

/**
 * The name of an object, the same in every run: its parts with dashes between. One that is too long, or has to leave
 * characters out, ends with a hash over the parts instead, so that different parts have different names.
 *
 * @param room characters that the name may have
 */
export function objectName(parts: readonly string[], room: number): string {
  const words = parts.map(plainWord).filter((word) => word !== "");
  const name = words.join("-");
  const plain = parts.every((part, index) => part === words[index]);
  if (plain && name.length <= room && NAME.test(name)) return name;
  const begin = /^[a-z]/.test(name) ? name : `x${name}`;
  const short = begin.slice(0, room - HASH_LENGTH - 1).replace(/-+$/, "");
  return `${short}-${shortHash(parts, HASH_LENGTH)}`;
}

/** The objects that VMs are made from, as a connection of a cluster needs them. */
export interface ConnectionNames {
  vNet: string;
  subnet: string;
  /** Security group of every machine. */
  nodes: string;
  /** Security group of the control planes besides. */
  controlPlanes: string;
  sshKey: string;
}

/** @param prefix the cluster's name, or a word that several clusters share */
export function connectionNames(namespace: string, prefix: string, connection: string): ConnectionNames {
  const name = (suffix: string) => objectName([prefix, connection, suffix], LONGEST - namespace.length - 1);
  return {
    vNet: name("vpc"),
    subnet: name("subnet"),
    nodes: name("sg"),
    controlPlanes: name("control-planes-sg"),
    sshKey: name("sshkey"),
  };
}

/** The name of the object for a machine type of a connection. */
export function specName(namespace: string, prefix: string, connection: string, spec: string): string {
  return objectName([prefix, connection, spec, "spec"], LONGEST - namespace.length - 1);
}

/** The name of the object for an image of a connection. */
export function imageName(namespace: string, prefix: string, connection: string, image: string): string {
  return objectName([prefix, connection, image, "image"], LONGEST - namespace.length - 1);
}
