import { createHash } from "node:crypto";
import { cidrSize, cidrsOverlap, formatCidr, parseCidr, type Cidr } from "../../../lib/validation/cidr";

/** Length of the prefix of a connection's block, when none is written: 251 machines and more. */
const CONNECTION_PREFIX = 24;

interface Addressed {
  name: string;
  /** The connection's own block, when one is written. */
  cidr?: string;
}

/**
 * The block of each connection's VNet: the one that is written, else a /24 of the base that its name leads to. So a
 * connection that is added or removed moves no other, unless two names lead to the same block: then the later takes
 * the next free one. No two overlap, since clouds that are joined would have the same address twice.
 *
 * @param base block that all others are taken from
 * @returns connection → block; a connection for which there is no room is left out
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

/** The blocks that the base has room for. */
export function roomOf(base: string): number {
  const whole = parseCidr(base);
  return whole && whole.prefix <= CONNECTION_PREFIX ? 2 ** (CONNECTION_PREFIX - whole.prefix) : 0;
}

function firstFree(whole: Cidr, name: string, taken: readonly Cidr[]): Cidr | undefined {
  const count = whole.prefix <= CONNECTION_PREFIX ? 2 ** (CONNECTION_PREFIX - whole.prefix) : 0;
  const size = cidrSize({ first: 0, prefix: CONNECTION_PREFIX });
  const start = count === 0 ? 0 : createHash("sha256").update(name).digest().readUInt32BE(0) % count;
  for (let step = 0; step < count; step++) {
    const block = { first: whole.first + ((start + step) % count) * size, prefix: CONNECTION_PREFIX };
    if (!taken.some((other) => cidrsOverlap(block, other))) return block;
  }
  return undefined;
}
