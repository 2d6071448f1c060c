const FIRST_PORT = 20_000;
const PORTS = 10_000;
const FIRST_HOST = 11;
const LAST_HOST = 250;

/**
 * Returns ports to try in order, below the ephemeral port range. Different seeds begin at different ports, so that two
 * clones rarely try the same one.
 * @param seed hexadecimal digits
 */
export function* candidatePorts(seed: string, taken: ReadonlySet<number>): Generator<number> {
  const begin = parseInt(seed.slice(0, 8), 16) % PORTS;
  for (let step = 0; step < PORTS; step++) {
    const port = FIRST_PORT + ((begin + step) % PORTS);
    if (!taken.has(port)) yield port;
  }
}

/**
 * Returns the first /24 of 10.77.0.0/16 that nothing on this machine overlaps, starting at an offset derived from the
 * seed.
 * @param seed hexadecimal digits
 * @param used CIDRs of interfaces, routes and the engine's networks
 * @throws Error when all 256 are taken
 */
export function chooseSubnet(seed: string, used: readonly string[]): string {
  const begin = parseInt(seed.slice(0, 2), 16);
  for (let step = 0; step < 256; step++) {
    const subnet = `10.77.${(begin + step) % 256}.0/24`;
    if (!used.some((cidr) => overlaps(cidr, subnet))) return subnet;
  }
  throw new Error(
    "no free subnet in 10.77.0.0/16 for the nodes; remove networks of container engines that are not used",
  );
}

/** Returns the first address of a /24 that no node has. */
export function chooseAddress(subnet: string, taken: ReadonlySet<string>): string {
  const prefix = subnet.replace(/\.0\/24$/, "");
  for (let host = FIRST_HOST; host <= LAST_HOST; host++) {
    const address = `${prefix}.${host}`;
    if (!taken.has(address)) return address;
  }
  throw new Error(`the subnet ${subnet} is full: at most ${LAST_HOST - FIRST_HOST + 1} nodes fit`);
}

/**
 * Returns a fixed link-layer address for an IPv4 address. If it changed at each boot, neighbors would keep sending to
 * the old one for half a minute.
 */
export function hardwareAddress(address: string): string {
  const parts = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
  return ["02", "f5", ...parts].join(":");
}

/** Returns whether two IPv4 CIDRs overlap; false for anything other than IPv4. */
export function overlaps(one: string, other: string): boolean {
  const [a, b] = [parse(one), parse(other)];
  if (a === undefined || b === undefined) return false;
  const size = 2 ** (32 - Math.min(a.bits, b.bits));
  return Math.floor(a.number / size) === Math.floor(b.number / size);
}

function parse(cidr: string): { number: number; bits: number } | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/.exec(cidr);
  if (match === null) return undefined;
  const number = match.slice(1, 5).reduce((sum, part) => sum * 256 + Number(part), 0);
  return { number, bits: Number(match[5] ?? 32) };
}
