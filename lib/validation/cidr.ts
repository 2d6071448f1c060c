import { formatIpv4, parseIpv4 } from "./addresses";
import { quoted } from "../text/quote";

/** An IPv4 block: its first address as 32 bits, and its prefix length. */
export interface Cidr {
  first: number;
  prefix: number;
}

/** Returns the number of addresses in a block. */
export const cidrSize = (block: Cidr): number => 2 ** (32 - block.prefix);

/** Formats a block as "10.244.0.0/16". */
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
