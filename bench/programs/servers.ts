import type { Size } from "../../sandbox/systems/cluster-size";

/** The variable that tells the measured programs how many servers to make. */
export const SERVERS_VARIABLE = "FORESAIL_BENCH_SERVERS";

/** Block of the servers, in a cloud of the bench's own. */
export const SERVERS_CIDR = "10.20.0.0/24";

/** How many servers a program is to make. @throws Error when nothing says so */
export function wantedServers(environment: NodeJS.ProcessEnv = process.env): number {
  const count = Number(environment[SERVERS_VARIABLE]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${SERVERS_VARIABLE} has to be a number from 1`);
  return count;
}

/** One control plane of up to two servers, three of more; the others are workers. */
export function sizeOf(servers: number): Size {
  const controlPlanes = servers < 3 ? 1 : 3;
  return { controlPlanes, workers: servers - controlPlanes };
}

/** Some public key: nobody logs in. */
export const SERVERS_KEY =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g bench";
