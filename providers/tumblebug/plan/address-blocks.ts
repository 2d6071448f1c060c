import { createHash } from "node:crypto";
import { cidrSize, cidrsOverlap, formatCidr, parseCidr, type Cidr } from "../../../lib/validation/addresses";

/** Default prefix length of a connection's CIDR block: room for at least 251 machines. */
const CONNECTION_PREFIX = 24;

interface Addressed {
  name: string;
  /** CIDR block in the configuration, if any. */
  cidr?: string;
}

/**
 * Returns the CIDR block of each connection's VNet: the configured one, or a /24 of the base that depends on a hash
 * of the connection's name. So adding or removing a connection does not change other blocks, unless two names result
 * in the same block: then the later connection gets the next free one. Blocks never overlap, because connected clouds
 * need unique addresses.
 *
 * @param base block that all default blocks are taken from
 * @returns connection → block, without connections for which there is no room
 */
export function connectionBlocks(base: string, connections: readonly Addressed[]): Map<string, string> {
  const whole = parseCidr(base);
  const written = connections.flatMap(({ cidr }) => (cidr === undefined ? [] : (parseCidr(cidr) ?? [])));
  const taken: Cidr[] = [...written];
  const blocks = new Map<string, string>();
  for (const { name, cidr } of connections) {
    if (cidr !== undefined) blocks.set(name, cidr);
    else {
      const free = whole && firstFree(whole, name, taken);
      if (!free) continue;
      taken.push(free);
      blocks.set(name, formatCidr(free));
    }
  }
  return blocks;
}

/** Returns the number of blocks that the base has room for. */
export function roomOf(base: string | Cidr): number {
  const { prefix } = (typeof base === "string" ? parseCidr(base) : base) ?? { prefix: 32 };
  return prefix <= CONNECTION_PREFIX ? 2 ** (CONNECTION_PREFIX - prefix) : 0;
}

function firstFree(whole: Cidr, name: string, taken: readonly Cidr[]): Cidr | undefined {
  const count = roomOf(whole);
  const size = cidrSize({ first: 0, prefix: CONNECTION_PREFIX });
  const start = count === 0 ? 0 : createHash("sha256").update(name).digest().readUInt32BE(0) % count;
  for (let step = 0; step < count; step++) {
    const block = { first: whole.first + ((start + step) % count) * size, prefix: CONNECTION_PREFIX };
    if (!taken.some((other) => cidrsOverlap(block, other))) return block;
  }
  return undefined;
}
