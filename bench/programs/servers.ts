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
