import type { Size } from "../../sandbox/systems/cluster-size";

/** The variable with the number of servers that the measured programs create. */
export const SERVERS_VARIABLE = "FORESAIL_BENCH_SERVERS";

/** The CIDR of the servers, in the benchmark's own cloud. */
export const SERVERS_CIDR = "10.20.0.0/24";

/** Returns how many servers a program has to create. @throws Error when the variable is not set */
export function wantedServers(environment: NodeJS.ProcessEnv = process.env): number {
  const count = Number(environment[SERVERS_VARIABLE]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${SERVERS_VARIABLE} has to be a number from 1`);
  return count;
}

/** One control plane for up to two servers, three for more; the others are workers. */
export function sizeOf(servers: number): Size {
  const controlPlanes = servers < 3 ? 1 : 3;
  return { controlPlanes, workers: servers - controlPlanes };
}

/** Any public key: there are no logins. */
export const SERVERS_KEY =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g bench";
