import type { SimulatedFleet } from "../simulation/simulated-fleet";

/** What has machines. */
type Machines = { machine: (name: string) => ReturnType<SimulatedFleet["machine"]> };

/** Settings of a machine beyond its index in the fleet. */
export type DesiredMachine = { name: string } & Record<string, unknown>;

/** A machine's entry in `foresail:cluster`: names that begin with "cp" are control planes. */
export function machineEntry(fleet: Machines, desired: string | DesiredMachine): Record<string, unknown> {
  const { name, ...others } = typeof desired === "string" ? { name: desired } : desired;
  const { apiServer, ...ref } = fleet.machine(name);
  return name.startsWith("cp")
    ? { ...ref, role: "control-plane", internalAddress: internalAddress(name), apiServer, ...others }
    : { ...ref, role: "worker", internalAddress: internalAddress(name), ...others };
}

/** An address of its own for each machine, as nodes would have it; nothing listens there. */
function internalAddress(name: string): string {
  const [kind = "", index = "0"] = name.split("-");
  return `10.90.${kind === "cp" ? 1 : 2}.${index}`;
}

/** `foresail:cluster` for machines of a fleet; what else is given replaces the defaults of the tests. */
export function desiredCluster(
  fleet: Machines,
  machines: (string | DesiredMachine)[],
  others: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    name: "test",
    version: "1.36.3",
    source: { bundle: { path: "/opt/bundle" } },
    network: { plugin: { bridge: {} } },
    timeouts: { sshSeconds: 10, prepareSeconds: 60, initSeconds: 60, joinSeconds: 60, readySeconds: 60 },
    machines: machines.map((machine) => machineEntry(fleet, machine)),
    ...others,
  };
}
