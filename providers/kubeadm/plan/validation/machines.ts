import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";

/** What the rules look at in a machine; what could not be read is left out. `index` is its place in the configuration. */
export interface MachineFacts {
  index: number;
  name?: string | undefined;
  role?: "control-plane" | "worker" | undefined;
  address?: string | undefined;
  port: number;
  internalAddress?: string | undefined;
  pool?: string | undefined;
  apiServer?: string | undefined;
}

/** Says which machines share what each needs for itself: name, SSH address, internal address, API address. */
export function duplicateMachineIssues(machines: readonly MachineFacts[]): ValidationIssue[] {
  const own: [field: string, what: string, value: (machine: MachineFacts) => string | undefined][] = [
    ["name", "name", (machine) => machine.name],
    ["address", "address and port", (machine) => machine.address && `${machine.address}:${machine.port}`],
    ["internalAddress", "internal address", (machine) => machine.internalAddress],
    [
      "apiServer",
      "API address",
      (machine) => (machine.role === "control-plane" ? machine.apiServer : undefined),
    ],
  ];
  return own.flatMap(([field, what, valueOf]) => {
    const first = new Map<string, MachineFacts>();
    return machines.flatMap((machine): ValidationIssue[] => {
      const value = valueOf(machine);
      if (value === undefined) return [];
      const earlier = first.get(value);
      if (!earlier) {
        first.set(value, machine);
        return [];
      }
      const message = `${quoted(value)} is the ${what} of machines[${earlier.index}] too; give each machine its own`;
      return [{ path: ["machines", machine.index, field], message }];
    });
  });
}

/** Fields that only one of the two roles has. */
export function roleFieldIssues(machine: MachineFacts): ValidationIssue[] {
  if (machine.role === "control-plane" && machine.pool !== undefined) {
    return [
      {
        path: ["machines", machine.index, "pool"],
        message: "control planes have no pool; remove it, or make the machine a worker",
      },
    ];
  }
  if (machine.role === "worker" && machine.apiServer !== undefined) {
    return [
      { path: ["machines", machine.index, "apiServer"], message: "workers have no API server; remove it" },
    ];
  }
  return [];
}

/** What the number of control planes depends on. */
interface ControlPlaneCount {
  controlPlanes: number;
  allowEvenControlPlanes: boolean;
  lost: number;
}

/** What is wrong with the number of control planes: none, or an even number that nobody asked for. */
export function controlPlaneCountIssues(count: ControlPlaneCount): ValidationIssue[] {
  const { controlPlanes } = count;
  if (controlPlanes === 0) {
    return [
      {
        path: ["machines"],
        message: 'no machine is a control plane; give at least one the role "control-plane"',
      },
    ];
  }
  if (controlPlanes % 2 === 1 || count.allowEvenControlPlanes || count.lost > 0) return [];
  const message = `${controlPlanes} control planes tolerate no more failures than ${controlPlanes - 1}; use ${controlPlanes - 1} or ${controlPlanes + 1}, or set cluster.allowEvenControlPlanes: true`;
  return [{ path: ["machines"], message }];
}

/** What is wrong with the list of lost machines. */
export function lostMachineIssues(lost: readonly string[], machines: readonly string[]): ValidationIssue[] {
  return lost.flatMap((name, index): ValidationIssue[] => {
    const path = ["lost", index];
    if (machines.includes(name))
      return [
        {
          path,
          message: `${quoted(name)} is still under cluster.machines; remove it there if it is dead, or here if it lives`,
        },
      ];
    if (lost.indexOf(name) < index) return [{ path, message: `${quoted(name)} is listed twice; remove one` }];
    return [];
  });
}
