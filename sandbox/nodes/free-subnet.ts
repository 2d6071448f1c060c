import { networkInterfaces } from "node:os";
import { chooseSubnet } from "./addresses";
import type { ContainerEngine } from "./engine";
import type { FleetNames } from "./names";
import { labelArguments } from "./node-creation";

/** The part of a container engine that is used here. */
type Networks = Pick<ContainerEngine, "subnets" | "call">;

/**
 * Returns a /24 that no interface of this machine and no network of its container engine overlaps.
 * @param seed hexadecimal digits that determine where the search starts
 * @param engine absent if nothing runs in containers
 * @throws Error when none is free
 */
export async function findFreeSubnet(seed: string, engine: Networks | undefined): Promise<string> {
  const own = Object.values(networkInterfaces()).flatMap(
    (addresses) => addresses?.flatMap(({ cidr }) => cidr ?? []) ?? [],
  );
  return chooseSubnet(seed, [...own, ...((await engine?.subnets()) ?? [])]);
}

/**
 * Creates a fleet's network in a free subnet; tries another one if the subnet was taken meanwhile.
 * @throws Error of the engine; Error when no subnet is free
 */
export async function createNetwork(engine: Networks, { network, labels, seed }: FleetNames): Promise<void> {
  let subnet = await findFreeSubnet(seed, engine);
  for (;;) {
    try {
      await engine.call(["network", "create", "--subnet", subnet, ...labelArguments(labels), network]);
      return;
    } catch (error) {
      const next = await findFreeSubnet(seed, engine);
      if (next === subnet) throw error;
      subnet = next;
    }
  }
}
