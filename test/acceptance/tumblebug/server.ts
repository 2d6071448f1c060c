import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openTumblebug, type Tumblebug } from "../../../providers/tumblebug/client";
import type { Generation } from "../../../providers/tumblebug/plan/model";
import { FakeMachines } from "../../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../../sandbox/tumblebug/server";
import { leaveOut } from "../../left-out";
import { MOCK_SETTINGS } from "../../support/tumblebug-mock-clouds";

/** The server that the acceptance tests use, and the clouds behind it. */
export interface AcceptanceServer {
  readonly address: string;
  readonly user: string;
  readonly password: string;
  readonly generation: Generation;
  readonly connection: string;
  /** the cloud's names of a machine type and an image */
  readonly cloudSpec: string;
  readonly cloudImage: string;
  /** A client with the default deadlines. */
  readonly open: () => Promise<Tumblebug>;
  readonly close: () => Promise<void>;
}

const SIMULATED = /^simulated:(mcis|infra)$/;
const CONNECTIONS: Readonly<Record<Generation, string>> = { mcis: "mock-config01", infra: "mock-default" };

/**
 * Opens the server that FORESAIL_TUMBLEBUG_URL names: the address of a real one, or "simulated:mcis" or
 * "simulated:infra" for one of the project's own in this process. docs/tumblebug-acceptance.md has all variables.
 * Leaves the suite out when it is not set.
 */
export async function acceptanceServer(context: Mocha.Context): Promise<AcceptanceServer> {
  const { FORESAIL_TUMBLEBUG_URL: url = "" } = process.env;
  if (url === "") leaveOut(context, "FORESAIL_TUMBLEBUG_URL names no server: docs/tumblebug-acceptance.md");
  const { user, password } = credentials();
  const [, simulated] = SIMULATED.exec(url) ?? [];
  const started = simulated === undefined ? undefined : await simulate(simulated as Generation);
  const address = started?.address ?? url.replace(/\/+$/, "");
  const open = () => openTumblebug({ address, user, password });
  const first = await open();
  first.close();
  return {
    ...{ address, user, password, generation: first.generation, open },
    connection: process.env.FORESAIL_TUMBLEBUG_CONNECTION ?? CONNECTIONS[first.generation],
    cloudSpec: process.env.FORESAIL_TUMBLEBUG_SPEC ?? "mock-vmspec-01",
    cloudImage: process.env.FORESAIL_TUMBLEBUG_IMAGE ?? "mock-vmimage-01",
    close: async () => started?.close(),
  };
}

/** A name that no earlier run has used. */
export function freshName(word: string): string {
  return `${word}-${Date.now().toString(36)}`;
}

function credentials() {
  const { FORESAIL_TUMBLEBUG_USER: user = "default", FORESAIL_TUMBLEBUG_PASSWORD: password = "default" } =
    process.env;
  return { user, password };
}

async function simulate(generation: Generation) {
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-tumblebug-"));
  const server = new TumblebugServer({
    ...{ generation, folder, connections: [], machines: new FakeMachines() },
    ...credentials(),
    ...MOCK_SETTINGS[generation],
    pace: Number(process.env.FORESAIL_TUMBLEBUG_PACE ?? 0.02),
  });
  const address = await server.start();
  return {
    address,
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
