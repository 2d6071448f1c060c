import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";

/**
 * Input of the machines' rules; values that could not be read are absent. `index` is the position in the configuration.
 */
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

/** Returns an issue for each name, SSH address, internal address or API address that two machines share. */
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

/** Returns an issue for each field that the machine's role does not have. */
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

/** Input of the rule for the number of control planes. */
interface ControlPlaneCount {
  controlPlanes: number;
  allowEvenControlPlanes: boolean;
  lost: number;
}

/** Returns an issue when there is no control plane, or an even number that is not explicitly allowed. */
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

/** Returns the issues of the list of lost machines. */
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
