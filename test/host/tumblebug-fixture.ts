import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openTumblebug, type Tumblebug } from "../../providers/tumblebug/client";
import type { Slot } from "../../providers/tumblebug/plan/groups";
import { securityRules, type ExplainedRule } from "../../providers/tumblebug/plan/security-rules";
import type { HandlerKey } from "../../providers/handlers";
import { connectionOf } from "../../sandbox/tumblebug/clouds";
import { FakeMachines } from "../../sandbox/tumblebug/machines";
import { TumblebugServer } from "../../sandbox/tumblebug/server";
import { removeFolder } from "../engine/compiled-clone";
import { ProviderHost } from "./provider-host";

export type TestedGeneration = "mcis" | "infra";

export const MARK = "0123456789ab";
export const CONNECTION = "aws-ap-northeast-2";
const CREDENTIALS = { username: "default", password: "secret-word" };

/**
 * Defines a suite in Pulumi's own process with tests against a server of each generation.
 *
 * @param of the title of a generation's tests
 * @param tests gets what runs by the time that a test does
 */
export function describeGenerations(
  title: string,
  of: (generation: TestedGeneration) => string,
  tests: (
    running: { readonly host: ProviderHost; readonly fixture: TumblebugFixture },
    generation: TestedGeneration,
  ) => void,
): void {
  describe(title, function () {
    this.timeout(60_000);
    const running = {} as { host: ProviderHost; fixture: TumblebugFixture };
    before(async () => {
      running.host = await ProviderHost.inClone();
    });
    after(() => running.host?.stop());

    for (const generation of ["mcis", "infra"] as const)
      describe(of(generation), () => {
        before(async () => {
          running.fixture = await TumblebugFixture.start(generation);
        });
        after(() => running.fixture.stop());
        afterEach(() => {
          running.fixture.server.faults.clear();
          running.fixture.server.passed.length = 0;
        });

        tests(running, generation);
      });
  });
}

/** A fake server with one namespace, and the resources that are requested there. */
export class TumblebugFixture {
  readonly machines = new FakeMachines();
  address = "";

  private constructor(
    readonly server: TumblebugServer,
    private readonly generation: TestedGeneration,
    private readonly folder: string,
    machines: FakeMachines,
  ) {
    this.machines = machines;
  }

  static async start(generation: TestedGeneration, regions = ["ap-northeast-2"]): Promise<TumblebugFixture> {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-tumblebug-"));
    const machines = new FakeMachines();
    const server = new TumblebugServer({
      generation,
      folder,
      user: CREDENTIALS.username,
      password: CREDENTIALS.password,
      connections: [...regions.map((region) => connectionOf("aws", region)), connectionOf("mock", "default")],
      machines,
      limits: false,
    });
    const fixture = new TumblebugFixture(server, generation, folder, machines);
    fixture.address = await server.start();
    await fixture.ask("POST", "/ns", { name: "ns1", description: "" });
    return fixture;
  }

  async stop(): Promise<void> {
    await this.server.close();
    removeFolder(this.folder);
  }

  /** Asks the server as another client would. */
  async ask(method: string, ref: string, body?: object): Promise<{ status: number; text: string }> {
    const authorization = `Basic ${Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString("base64")}`;
    const answer = await fetch(this.address + ref, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** The VMs behind a load balancer, in order of their names. */
  async behindBalancer(infrastructure: string, group: string): Promise<string[]> {
    const found = await this.withServer(({ loadBalancers }) =>
      loadBalancers.read("ns1", infrastructure, group),
    );
    return [...(found?.machines ?? [])].sort();
  }

  /** Works with the server as another client would. */
  async withServer<T>(work: (tumblebug: Tumblebug) => Promise<T>): Promise<T> {
    const tumblebug = await openTumblebug({
      address: this.address,
      user: CREDENTIALS.username,
      password: CREDENTIALS.password,
      generation: this.generation,
    });
    try {
      return await work(tumblebug);
    } finally {
      tumblebug.close();
    }
  }

  /** The changes that were requested from the server, in order. */
  changes(): string[] {
    return this.server.passed
      .filter(({ method, path: ref }) => method !== "GET" || ref.includes("/control/"))
      .map(({ method, path: ref }) => `${method} ${ref.replace(/\?.*/, "")}`);
  }

  get access(): object {
    return { address: this.address, generation: "auto", credentials: CREDENTIALS };
  }

  /** The inputs of an MCIS, made from OBJECTS. */
  mcis(infrastructure: string, slots: Slot[]) {
    return {
      ...{ server: this.access, namespace: "ns1", infrastructure, mark: MARK, slots },
      objects: {
        [CONNECTION]: { vNet: "k1-vpc", subnet: "k1-subnet", nodes: "k1-sg", sshKey: "k1-sshkey" },
      },
      specs: { [`${CONNECTION} t3.medium`]: "k1-spec" },
      images: { [`${CONNECTION} debian-12`]: this.generation === "mcis" ? "k1-image" : "debian-12" },
      ...{ user: "cb-user", timeoutSeconds: 15 },
    };
  }

  object(name: string, over: object = {}): object {
    return {
      // the plan has detected the generation by then
      server: { ...this.access, generation: this.generation },
      ...{ namespace: "ns1", name, connection: CONNECTION, mark: MARK },
      ...{ keepOnDelete: false, foreign: false },
      ...over,
    };
  }
}

export const slot = (machine: string, over: Partial<Slot> = {}): Slot => ({
  machine,
  group: machine.replace(/-\d+$/, ""),
  role: machine.startsWith("cp") ? "control-plane" : "worker",
  vmGroup: machine.startsWith("cp") ? "cp" : machine,
  connection: CONNECTION,
  spec: "t3.medium",
  image: "debian-12",
  ...over,
});

/** Rules of every machine, with SSH from these blocks. */
export const rulesFor = (ssh: string[]): ExplainedRule[] =>
  securityRules("nodes", {
    ...{ ssh, api: [], nodePorts: [], nodes: ["10.21.3.0/24"], pods: "10.244.0.0/16" },
    ...{ podNetwork: "flannel", overInternet: false },
  });

/** What VMs need: handlers, kind, name, inputs, and the reason when it can't be created. */
export const OBJECTS: readonly [HandlerKey, string, string, object, string][] = [
  [
    "tumblebug/TumblebugVNet",
    "vNet",
    "k1-vpc",
    { cidr: "10.21.3.0/24", cidrWritten: false, subnet: "k1-subnet" },
    "CreateVpcFailedReason",
  ],
  [
    "tumblebug/TumblebugSecurityGroup",
    "securityGroup",
    "k1-sg",
    { vNet: "k1-vpc", rules: rulesFor(["192.0.2.0/24"]) },
    "CreateSecurityGroupFailedReason",
  ],
  ["tumblebug/TumblebugSshKey", "sshKey", "k1-sshkey", { user: "cb-user" }, "CreateSSHKeyFailedReason"],
  ["tumblebug/TumblebugImage", "image", "k1-image", { cloudImage: "debian-12" }, "CreateVmImageFailedReason"],
  ["tumblebug/TumblebugSpec", "spec", "k1-spec", { cloudSpec: "t3.medium" }, "CreateVmSpecFailedReason"],
];

/** As the engine does: check, then create with the result of check. */
export async function createOn(
  host: ProviderHost,
  key: HandlerKey,
  desired: object,
): Promise<{ steps: string[]; outputs: Record<string, unknown> }> {
  const { inputs, refusals } = await host.check(key, {}, desired);
  assert.deepEqual(refusals, []);
  const { outputs } = await host.create(key, inputs);
  return { steps: (inputs.steps ?? []) as string[], outputs };
}
