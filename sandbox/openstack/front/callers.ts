import { BlockList, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";

/** Where the sandbox's container nodes have their addresses (see nodes/addresses.ts). */
const NODES = { block: "10.77.0.0", prefix: 16 } as const;

/**
 * Returns whether an address may connect to the cloud: this machine and the sandbox's own nodes may.
 * @param remote as a socket reports it; IPv4, or IPv4 within IPv6
 * @param own addresses of this machine
 */
export function isOwnCaller(remote: string | undefined, own: readonly string[] = ownAddresses()): boolean {
  const address = remote?.replace(/^::ffff:/, "") ?? "";
  if (!isIPv4(address)) return false;
  const nodes = new BlockList();
  nodes.addSubnet(NODES.block, NODES.prefix);
  return own.includes(address) || nodes.check(address);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(
    (addresses) => addresses?.map(({ address }) => address) ?? [],
  );
}
