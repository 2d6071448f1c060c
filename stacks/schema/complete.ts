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
  /** host:port at which foresail reaches this machine's API server. */
  apiServer: string;
}

export interface WorkerMachine extends MachineBase {
  role: "worker";
  pool: string;
}

/** A machine with all defaults. */
export type Machine = ControlPlaneMachine | WorkerMachine;

/** Default port of the API server on a control plane. */
export const API_SERVER_PORT = 6443;

/** Returns a machine with all defaults. Idempotent. */
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
