import { printable, quoted } from "../text/quote";

/** Returns a rule for texts that match a pattern. @param what "the name of a Linux user; write …" */
export function pattern(matches: RegExp, what: string): (text: string) => string | undefined {
  return (text) => (matches.test(text) ? undefined : `${quoted(text)} is not ${what}`);
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Returns the issue of a DNS label (RFC 1123), or undefined.
 *
 * @param longest maximum number of characters, at most 63
 */
export function dnsLabelIssue(name: string, longest = 63): string | undefined {
  if (name === "") return `must not be empty`;
  if (name.length > longest) return `${quoted(name)} has ${name.length} characters; write at most ${longest}`;
  if (!LABEL.test(name)) {
    return `${quoted(name)} is not a DNS label; write lower-case letters, digits and dashes, with a letter or digit at both ends`;
  }
  return undefined;
}

/** Returns the issue of a DNS name of one or more labels, e.g. "cluster.local", or undefined. */
export function dnsNameIssue(name: string): string | undefined {
  if (name === "") return "must not be empty";
  const fault = dnsNameFault(name);
  return fault && `${quoted(name)} ${fault}`;
}

/** Returns the issue of a DNS name without the name, or undefined. */
export function dnsNameFault(name: string): string | undefined {
  if (name.length > 253) return `has ${name.length} characters; write at most 253`;
  return name.split(".").some((label) => dnsLabelIssue(label) !== undefined)
    ? "is not a DNS name; write labels of lower-case letters, digits and dashes, joined by dots"
    : undefined;
}

/**
 * Returns the issue of a Kubernetes object's name (RFC 1123 subdomain; unlike in a host name, a part may exceed 63
 * characters), or undefined.
 */
export function objectNameIssue(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (name.length > 253) return `${quoted(name)} has ${name.length} characters; write at most 253`;
  return name.split(".").every((part) => LABEL.test(part))
    ? undefined
    : `${quoted(name)} is not the name of a Kubernetes object; write lower-case letters, digits, dashes and dots, with a letter or digit at both ends of each part`;
}

/**
 * Returns the issue of a Node's name, or undefined: labels joined by dots. It is the value of a label, too, so that it is
 * shorter than the names of other objects.
 */
export function nodeNameIssue(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (name.length > 63) return `${quoted(name)} has ${name.length} characters; write at most 63`;
  return name.split(".").every((part) => LABEL.test(part))
    ? undefined
    : `${quoted(name)} is not the name of a Node; write lower-case letters, digits, dashes and dots, with a letter or digit at both ends of each part`;
}

/** Returns the issue of a one-line text that is passed unchanged to another system, or undefined. */
export function lineIssue(text: string): string | undefined {
  if (text !== text.trim()) return `${quoted(text)} begins or ends with a space; remove it`;
  return unprintableIssue(text);
}

/** Maximum number of characters of a one-line text whose own limit is unknown here. */
export const LONGEST_LINE = 255;

/** Returns the issue of a one-line text that is empty, long or not on one line, or undefined. */
export function shortLineIssue(text: string): string | undefined {
  if (text === "") return "must not be empty";
  if (text.length > LONGEST_LINE) return `has ${text.length} characters; write at most ${LONGEST_LINE}`;
  return lineIssue(text);
}

/**
 * Returns the issue of an invisible character in a one-line text (line break, tab, another control character), or
 * undefined.
 */
export function unprintableIssue(text: string): string | undefined {
  const found = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.exec(text)?.[0];
  if (found === undefined) return undefined;
  const name = found === "\n" ? "a line break" : `the control character ${printable(found)}`;
  return `${quoted(text)} contains ${name}; remove it`;
}

/** Returns the issue of a kubeadm preflight check's name ("Swap", "Port-10250", "all"), or undefined. */
export const preflightIssue = pattern(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/,
  'the name of a preflight check; write it as kubeadm prints it in brackets, e.g. "NumCPU"',
);

/** Names that worker pools can't have, because the control planes use them. */
const RESERVED_POOLS = ["control-plane", "control-planes"];

/** Returns the issue of a worker pool's name, or undefined. */
export function poolNameIssue(name: string): string | undefined {
  if (RESERVED_POOLS.includes(name))
    return `${quoted(name)} is reserved for the control planes; choose another name`;
  return dnsLabelIssue(name, 40);
}

/** Returns the issue of a Linux user's name, or undefined. */
export const userNameIssue = pattern(
  /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/,
  "the name of a Linux user; write at most 32 letters, digits, dots, dashes and underscores, with a letter first",
);

/** Returns what is wrong with the name of a cluster, or undefined: resources and machines have it as a prefix. */
export const clusterNameIssue = (name: string): string | undefined => dnsLabelIssue(name, 40);
