import { isIP } from "node:net";
import { dnsNameIssue } from "./names";
import { quoted } from "../text/quote";
import { duplicateIssues, below, issueAt, type ValidationIssue } from "./validation-issue";

/** Returns 4 or 6 for an IP address, and 0 for any other text. */
export const ipVersion = (text: string): number => isIP(text);

/** Returns a dotted IPv4 address as a 32-bit number, or undefined when the text isn't one. */
export function parseIpv4(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255))
    return undefined;
  return parts.reduce((bits, part) => bits * 256 + Number(part), 0);
}

/** Formats 32 bits as a dotted IPv4 address. */
export function formatIpv4(bits: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join(".");
}

const looksLikeIpv6 = (text: string) => text.split(":").length > 2;

/** Returns the issue of an address at which other machines reach a machine, or undefined. */
export function ipv4Issue(text: string): string | undefined {
  if (looksLikeIpv6(text))
    return `${quoted(text)} is an IPv6 address; foresail builds IPv4 clusters, write an IPv4 address`;
  const bits = parseIpv4(text);
  if (bits === undefined) return `${quoted(text)} is not an IPv4 address; write e.g. "192.0.2.11"`;
  const first = Math.floor(bits / 2 ** 24);
  if (first === 127)
    return `${quoted(text)} is a loopback address, which no other machine reaches; write the address in the machines' network`;
  if (first === 0 || first >= 224)
    return `${quoted(text)} is not the address of one machine; write e.g. "192.0.2.11"`;
  return undefined;
}

/** Returns the issue of a host name or IPv4 address to connect to, or undefined. */
export function hostIssue(text: string): string | undefined {
  if (text.includes("@")) return "contains a user; write the user in its own field";
  if (text.includes("://")) return `${quoted(text)} is a URL; write the host name or IPv4 address alone`;
  if (looksLikeIpv6(text)) return `${quoted(text)} is an IPv6 address; write a host name or an IPv4 address`;
  if (text.includes(":")) return `${quoted(text)} contains a port; write the port in its own field`;
  if (/^[\d.]+$/.test(text)) {
    return parseIpv4(text) === undefined
      ? `${quoted(text)} is not an IPv4 address; write e.g. "192.0.2.11"`
      : undefined;
  }
  return dnsNameIssue(text.toLowerCase()) && `${quoted(text)} is neither a host name nor an IPv4 address`;
}

/** Returns the issue of a name in a certificate: a DNS name, also with a wildcard, or an IP address; or undefined. */
export const certificateNameIssue = (text: string): string | undefined =>
  looksLikeIpv6(text) ? undefined : dnsNameIssue(text.replace(/^\*\./, ""));

/** Returns the issue of a `host:port`, or undefined. */
export function hostPortIssue(text: string): string | undefined {
  const match = /^([^:]+):(\d{1,5})$/.exec(text);
  if (match?.[1] === undefined || Number(match[2]) < 1 || Number(match[2]) > 65_535) {
    return `${quoted(text)} is not an address with a port; write e.g. "192.0.2.11:6443"`;
  }
  return hostIssue(match[1]);
}

/** An IPv4 block: its first address as 32 bits, and its prefix length. */
export interface Cidr {
  first: number;
  prefix: number;
}

export const cidrSize = (block: Cidr): number => 2 ** (32 - block.prefix);

export const formatCidr = (block: Cidr): string => `${formatIpv4(block.first)}/${block.prefix}`;

/** Parses "10.244.0.0/16"; undefined when {@link cidrIssue} returns an issue. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const bits = parseIpv4(address);
  if (bits === undefined || rest.length > 0 || !/^\d{1,2}$/.test(prefix) || Number(prefix) > 32)
    return undefined;
  const block = { first: bits, prefix: Number(prefix) };
  return bits % cidrSize(block) === 0 ? block : undefined;
}

/** Returns the issue of an IPv4 block's text, or undefined. */
export function cidrIssue(text: string): string | undefined {
  if (parseCidr(text)) return undefined;
  if (text.includes(":"))
    return `${quoted(text)} is an IPv6 block; foresail builds IPv4 clusters, write e.g. "10.244.0.0/16"`;
  const [address = "", prefix = ""] = text.split("/");
  const bits = parseIpv4(address);
  if (bits !== undefined && address === text)
    return `${quoted(text)} has no length; write "${text}/32" for this address alone, or a larger block`;
  if (bits === undefined || !/^\d{1,2}$/.test(prefix) || Number(prefix) > 32 || text.split("/").length > 2) {
    return `${quoted(text)} is not an IPv4 block; write e.g. "10.244.0.0/16"`;
  }
  const size = cidrSize({ first: bits, prefix: Number(prefix) });
  return `${quoted(text)} does not start its block; write "${formatCidr({ first: bits - (bits % size), prefix: Number(prefix) })}"`;
}

/** Returns whether an address is in a block. */
export function cidrContains(block: Cidr, address: number): boolean {
  return address >= block.first && address < block.first + cidrSize(block);
}

/** Returns whether two blocks share an address. */
export function cidrsOverlap(left: Cidr, right: Cidr): boolean {
  return cidrContains(left, right.first) || cidrContains(right, left.first);
}

/** Lists of blocks by what they may reach, and `open`, which allows access from everywhere. */
export type AccessFacts = Readonly<Record<string, boolean | readonly string[] | undefined>>;

/** Returns the validation issues of the blocks that may reach the machines from outside. */
export function accessIssues({ open, ...lists }: AccessFacts = {}): ValidationIssue[] {
  const issueOf = (cidr: string) =>
    cidrIssue(cidr) ??
    (parseCidr(cidr)?.prefix === 0 && open !== true
      ? `${quoted(cidr)} allows every address; write the blocks that need access, or \`access.open: true\``
      : undefined);
  return Object.entries(lists).flatMap(([field, cidrs]) =>
    Array.isArray(cidrs)
      ? below(
          ["access", field],
          [
            ...duplicateIssues(cidrs as readonly string[], (cidr) => cidr),
            ...(cidrs as readonly string[]).flatMap((cidr, index) => issueAt([index], issueOf(cidr))),
          ],
        )
      : [],
  );
}
