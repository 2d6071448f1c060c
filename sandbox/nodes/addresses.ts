const FIRST_PORT = 20_000;
const PORTS = 10_000;
const FIRST_HOST = 11;
const LAST_HOST = 250;

/**
 * Ports to try in order, below the range from which systems pick ports of their own. Two seeds begin at different
 * places, so that two clones rarely ask for the same one.
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
 * The first /24 of 10.77.0.0/16 that nothing on this machine overlaps, beginning at a place of the seed's.
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

/** The first address of a /24 that no node has. */
export function chooseAddress(subnet: string, taken: ReadonlySet<string>): string {
  const prefix = subnet.replace(/\.0\/24$/, "");
  for (let host = FIRST_HOST; host <= LAST_HOST; host++) {
    const address = `${prefix}.${host}`;
    if (!taken.has(address)) return address;
  }
  throw new Error(`the subnet ${subnet} is full: at most ${LAST_HOST - FIRST_HOST + 1} nodes fit`);
}

/**
 * The link address that belongs to an IPv4 address for good. With a new one at each boot, neighbours would go on for half
 * a minute sending to the old one.
 */
export function hardwareAddress(address: string): string {
  const parts = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
  return ["02", "f5", ...parts].join(":");
}

/** Whether two IPv4 CIDRs share an address; anything else than IPv4 shares none. */
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
