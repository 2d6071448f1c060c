import { hostIssue, ipv4Issue } from "../../../lib/validation/addresses";
import { dnsLabelIssue, userNameIssue } from "../../../lib/validation/names";
import { quoted } from "../../../lib/text/quote";

/** A machine that a stack file is to name. */
export interface InventoryMachine {
  readonly name: string;
  readonly role: "control-plane" | "worker";
  readonly address: string;
  readonly port?: number;
  readonly user?: string;
  readonly internalAddress?: string;
}

/** What a list of machines says, whatever its format. */
export interface Inventory {
  readonly machines: readonly InventoryMachine[];
  /** "1.36.3"; absent when the list names none */
  readonly version?: string;
  /** What the list says and a stack file needs a person for. */
  readonly notes: readonly string[];
}

/** A machine as its list has it; what is missing is derived. */
export interface ListedMachine {
  readonly name?: string | undefined;
  readonly role: InventoryMachine["role"];
  readonly address: string;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly internalAddress?: string | undefined;
}

const PREFIX = { "control-plane": "cp", worker: "w" } as const;

/** A list of machines that no stack file can be made of; the message has every issue. */
export class InventoryError extends Error {
  override readonly name = "InventoryError";
}

/**
 * Names the machines and drops what says nothing: an internal address that is the address. A host name becomes its first
 * label, and a machine without a name gets "cp-1", "w-1" and so on.
 *
 * @throws InventoryError with every issue
 */
export function nameMachines(listed: readonly ListedMachine[]): InventoryMachine[] {
  const taken = new Set<string>();
  const machines = listed.map((machine): InventoryMachine => {
    const { role, address, port, user, internalAddress } = machine;
    const name = machine.name?.split(".")[0]?.toLowerCase() ?? nextName(PREFIX[role], listed, taken);
    taken.add(name);
    return {
      name,
      role,
      address,
      ...(port !== undefined && port !== 22 && { port }),
      ...(user !== undefined && { user }),
      ...(internalAddress !== undefined && internalAddress !== address && { internalAddress }),
    };
  });
  const issues = machineIssues(machines);
  if (issues.length > 0) throw new InventoryError(issues.join("\n"));
  return machines;
}

function nextName(prefix: string, listed: readonly ListedMachine[], taken: ReadonlySet<string>): string {
  const isFree = (name: string) => !taken.has(name) && !listed.some((each) => each.name === name);
  for (let index = 1; ; index += 1) if (isFree(`${prefix}-${index}`)) return `${prefix}-${index}`;
}

function machineIssues(machines: readonly InventoryMachine[]): string[] {
  const repeated = (key: "name" | "address") =>
    machines
      .map((machine) => machine[key])
      .filter((value, index, all) => all.indexOf(value) !== index)
      .map((value) => `two machines have the ${key} ${quoted(value)}`);
  const own = machines.flatMap(({ name, address, port, user, internalAddress }) =>
    [
      dnsLabelIssue(name),
      hostIssue(address),
      user === undefined ? undefined : userNameIssue(user),
      internalAddress === undefined ? undefined : ipv4Issue(internalAddress),
      port === undefined || (Number.isInteger(port) && port > 0 && port < 65_536)
        ? undefined
        : `${port} is not a port`,
    ].flatMap((issue) => (issue === undefined ? [] : [`machine ${quoted(name)}: ${issue}`])),
  );
  const hasControlPlane = machines.some(({ role }) => role === "control-plane");
  return [
    ...own,
    ...repeated("name"),
    ...repeated("address"),
    ...(hasControlPlane ? [] : ["no machine is a control plane; name at least one"]),
  ];
}
