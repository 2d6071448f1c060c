import { networkInterfaces } from "node:os";
import { chooseSubnet } from "./addresses";
import type { ContainerEngine } from "./engine";

/**
 * A /24 that no interface of this machine and no network of its container engine overlaps.
 * @param seed hexadecimal digits: where the search begins
 * @param engine absent where nothing runs in containers
 * @throws Error when none is free
 */
export async function findFreeSubnet(seed: string, engine: ContainerEngine | undefined): Promise<string> {
  const own = Object.values(networkInterfaces()).flatMap(
    (addresses) => addresses?.flatMap(({ cidr }) => cidr ?? []) ?? [],
  );
  return chooseSubnet(seed, [...own, ...((await engine?.subnets()) ?? [])]);
}
