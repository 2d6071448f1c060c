import { dnsNameIssue } from "./names";
import { quoted } from "../text/quote";

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

/** Returns the issue of a `host:port`, or undefined. */
export function hostPortIssue(text: string): string | undefined {
  const match = /^([^:]+):(\d{1,5})$/.exec(text);
  if (match?.[1] === undefined || Number(match[2]) < 1 || Number(match[2]) > 65_535) {
    return `${quoted(text)} is not an address with a port; write e.g. "192.0.2.11:6443"`;
  }
  return hostIssue(match[1]);
}
