import type { z } from "zod";
import type { MachineInput } from "./machine";
import type { SshConfiguration } from "./ssh";

interface MachineBase extends Omit<z.output<typeof MachineInput>, "role" | "pool"> {
  port: number;
  user: string;
  internalAddress: string;
}

export interface ControlPlaneMachine extends MachineBase {
  role: "control-plane";
  /** `host:port` at which the operator's machine reaches this machine's API server. */
  apiServer: string;
}

export interface WorkerMachine extends MachineBase {
  role: "worker";
  pool: string;
}

/** A machine with every default filled in. */
export type Machine = ControlPlaneMachine | WorkerMachine;

/** Port of the API server on a control plane, unless `apiServer` says otherwise. */
export const API_SERVER_PORT = 6443;

/** Fills in what a machine may leave out; parsing the result again changes nothing. */
export function completeMachine(
  machine: z.output<typeof MachineInput>,
  ssh: z.output<typeof SshConfiguration>,
): Machine {
  const { role, pool, apiServer, ...rest } = machine;
  const base: MachineBase = {
    ...rest,
    port: machine.port ?? ssh.port,
    user: machine.user ?? ssh.user,
    internalAddress: machine.internalAddress ?? machine.address,
  };
  return role === "worker"
    ? { ...base, role, pool: pool ?? "workers" }
    : { ...base, role, apiServer: apiServer ?? `${machine.address}:${API_SERVER_PORT}` };
}
