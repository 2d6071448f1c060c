const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * What is wrong with a DNS label (RFC 1123), or undefined.
 * @param longest most characters allowed, at most 63
 */
export function dnsLabelMistake(name: string, longest = 63): string | undefined {
  if (name === "") return `must not be empty`;
  if (name.length > longest) return `"${name}" has ${name.length} characters; write at most ${longest}`;
  if (!LABEL.test(name)) {
    return `"${name}" is not a DNS label; write lower-case letters, digits and dashes, with a letter or digit at both ends`;
  }
  return undefined;
}

/** What is wrong with a DNS name of one or more labels, e.g. "cluster.local", or undefined. */
export function dnsNameMistake(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (name.length > 253) return `has ${name.length} characters; write at most 253`;
  if (name.split(".").some((label) => dnsLabelMistake(label) !== undefined)) {
    return `"${name}" is not a DNS name; write labels of lower-case letters, digits and dashes, joined by dots`;
  }
  return undefined;
}

/** Names that pool resources may not take, because the control planes have them. */
const RESERVED_POOLS = ["control-plane", "control-planes"];

/** What is wrong with the name of a worker pool, or undefined. */
export function poolNameMistake(name: string): string | undefined {
  if (RESERVED_POOLS.includes(name))
    return `"${name}" is reserved for the control planes; choose another name`;
  return dnsLabelMistake(name, 40);
}

/** What is wrong with the name of a Linux user, or undefined. */
export function userNameMistake(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(name)
    ? undefined
    : `"${name}" is not the name of a Linux user`;
}
