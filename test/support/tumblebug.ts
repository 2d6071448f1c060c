import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openTumblebug, type Tumblebug, type TumblebugOptions } from "../../providers/tumblebug/client";
import { rateLimit } from "../../providers/tumblebug/client/api";
import type { Generation, DesiredVmGroup } from "../../providers/tumblebug/plan/model";
import { connectionOf } from "../../sandbox/tumblebug/clouds";
import { FakeMachines } from "../../sandbox/tumblebug/machines";
import { TumblebugServer, type ServerSettings } from "../../sandbox/tumblebug/server";

/** Both generations of the API, for tests that hold in each. */
export const GENERATIONS: readonly Generation[] = ["mcis", "infra"];

export const CREDENTIAL = { user: "default", password: "a-long-password" };
export const CONNECTION = "aws-ap-northeast-2";

/** Limits of an unlimited client. */
export const UNLIMITED = {
  overall: rateLimit(1e6, 1e6),
  infrastructureReads: rateLimit(1e6, 1e6),
};

/** A simulated server in this process, and a client of it with short waits. */
export interface FakeTumblebug {
  readonly server: TumblebugServer;
  readonly address: string;
  readonly machines: FakeMachines;
  readonly tumblebug: Tumblebug;
  /** one more client */
  readonly open: (options?: TumblebugOptions) => Promise<Tumblebug>;
  readonly close: () => Promise<void>;
}

export async function startFakeTumblebug(
  generation: Generation,
  settings: Partial<ServerSettings> = {},
): Promise<FakeTumblebug> {
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-tumblebug-"));
  const machines = new FakeMachines();
  const server = new TumblebugServer({
    generation,
    folder,
    ...CREDENTIAL,
    connections: [connectionOf("aws", "ap-northeast-2"), connectionOf("azure", "koreacentral")],
    machines,
    limits: false,
    ...settings,
  });
  const address = await server.start();
  const clients: Tumblebug[] = [];
  const open = async (options: TumblebugOptions = {}) => {
    const client = await openTumblebug(
      { address, ...CREDENTIAL, generation },
      { seconds: 5, longSeconds: 10, looking: { milliseconds: 10, times: 3 }, limits: UNLIMITED, ...options },
    );
    clients.push(client);
    return client;
  };
  return {
    server,
    address,
    machines,
    tumblebug: await open(),
    open,
    close: async () => {
      for (const client of clients) client.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a namespace with one of each of what VMs are made from, and says how a group of VMs asks for them. */
export async function plant(
  tumblebug: Tumblebug,
  namespace = "ns1",
): Promise<(name: string, size: number) => DesiredVmGroup> {
  const connection = CONNECTION;
  await tumblebug.namespaces.create({ name: namespace });
  const image = { name: "i1", connection, cloudImage: "debian-12" };
  await tumblebug.vNets.create(namespace, {
    name: "v1",
    connection,
    cidr: "10.21.0.0/24",
    subnet: "s1",
  });
  await tumblebug.securityGroups.create(namespace, { name: "g1", connection, vNet: "v1", rules: [] });
  await tumblebug.sshKeys.create(namespace, { name: "k1", connection, user: "cb-user" });
  await tumblebug.images?.create(namespace, image);
  await tumblebug.specs.create(namespace, { name: "t1", connection, cloudSpec: "t3.medium" });
  return (name, size) => ({
    name,
    size,
    connection,
    spec: "t1",
    image: tumblebug.images ? image.name : image.cloudImage,
    vNet: "v1",
    subnet: "s1",
    securityGroups: ["g1"],
    sshKey: "k1",
    user: "cb-user",
  });
}
