import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { connectionOf } from "../sandbox/tumblebug/clouds";
import { FakeMachines } from "../sandbox/tumblebug/machines";
import { TumblebugServer } from "../sandbox/tumblebug/server";

const CREDENTIALS = { user: "bench", password: "bench" };

/** A simulated server whose VMs have addresses, but no machines. */
export interface SimulatedTumblebug {
  readonly server: TumblebugServer;
  readonly address: string;
  /** Names of its connections. */
  readonly connections: readonly string[];
  /** Variables with which programs log in. */
  readonly variables: Readonly<Record<string, string>>;
  /** @throws Error when VMs or objects are left */
  assertEmpty(): void;
  delete(): Promise<void>;
}

/** Starts a server with the namespace "bench". @param creation milliseconds that a VM takes to start */
export async function startSimulatedTumblebug(
  generation: "mcis" | "infra",
  options: { connections: number; creation: number; limits?: boolean },
): Promise<SimulatedTumblebug> {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-bench-tumblebug-"));
  const regions = Array.from({ length: options.connections }, (_, index) => `region-${index + 1}`);
  const connections = regions.map((region) => connectionOf("aws", region));
  const machines = new FakeMachines();
  const server = new TumblebugServer({
    ...{ generation, folder, ...CREDENTIALS, connections, machines },
    durations: { creation: options.creation },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const address = await server.start();
  const authorization = `Basic ${Buffer.from(`${CREDENTIALS.user}:${CREDENTIALS.password}`).toString("base64")}`;
  const ask = (ref: string, body?: object) =>
    fetch(address + ref, {
      method: body ? "POST" : "GET",
      headers: { authorization, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  await ask("/ns", { name: "bench", description: "" });
  return {
    server,
    address,
    connections: connections.map(({ name }) => name),
    variables: { TUMBLEBUG_USERNAME: CREDENTIALS.user, TUMBLEBUG_PASSWORD: CREDENTIALS.password },
    assertEmpty: () => {
      if (machines.count > 0) throw new Error(`destroy left ${machines.count} VMs`);
    },
    delete: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
