import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import type { Node } from "../../lib/kubernetes";
import { containerNodeSettings, NodeFleet, nodeKeyFile } from "../../sandbox/nodes";
import { SANDBOX_NEEDS, setUp } from "../../sandbox/set-up";
import { clusterConfiguration } from "../../sandbox/systems/ssh-configuration";
import { makeCompiledClone, removeFolder } from "../engine/compiled-clone";
import { FleetCommand } from "../engine/fleet-command";
import { TestStack } from "../engine/test-stack";
import { silent } from "./test-cluster";
import { withApi } from "./with-api";

const MACHINE = "cp-1";
const SECONDS = 600;
/** The machines are near: one that does not answer at once is dead. */
const TIMEOUTS = { sshSeconds: 20 };

/** Real clusters of one control plane each: stacks over one layer, in a clone with its own backend and git repository. */
export class Regions {
  private constructor(
    readonly folder: string,
    private readonly stacks: ReadonlyMap<string, TestStack>,
    private readonly nodes: ReadonlyMap<string, NodeFleet>,
    readonly fleet: FleetCommand,
  ) {}

  /**
   * Starts a machine for each region, and writes the layer `prod`, a stack `prod-REGION` for each, and fleet.yaml.
   *
   * @param versions of Kubernetes that the machines have; the layer names the first
   */
  static async open(
    regions: readonly string[],
    versions: readonly string[],
    waves: readonly object[],
  ): Promise<Regions> {
    const toolchain = await setUp({ ...SANDBOX_NEEDS, kubernetes: versions }, silent);
    const folder = makeCompiledClone();
    const nodes = new Map(regions.map((region) => [region, new NodeFleet(fleetOf(region))]));
    const stacks = new Map<string, TestStack>();
    let privateKey = "";
    for (const [region, fleet] of nodes) {
      await fleet.deleteAll();
      const [node] = await fleet.ensure([{ name: MACHINE, bundles: versions }], silent);
      // written with the first node
      privateKey = await readFile(nodeKeyFile, "utf8");
      const place = { folder, project: "foresail", stack: `prod-${region}`, seconds: SECONDS };
      const stack = await new TestStack(place, toolchain).create();
      await stack.setSecret("sshPrivateKey", privateKey);
      const planned = { name: MACHINE, role: "control-plane", pool: undefined, node: node! } as const;
      const { machines } = clusterConfiguration({ machines: [planned], lost: [], privateKey }, {});
      stack.configure({ layer: "prod", cluster: { name: region, machines } });
      stacks.set(region, stack);
    }
    writeFileSync(path.join(folder, "fleet.yaml"), stringify({ waves }));
    const made = new Regions(folder, stacks, nodes, new FleetCommand([...stacks.values()][0]!));
    const {
      machines: _,
      name: __,
      ...shared
    } = clusterConfiguration({ machines: [], lost: [], privateKey }, containerNodeSettings);
    made.writeLayer({ ...shared, timeouts: TIMEOUTS, version: versions[0] });
    return made;
  }

  private get layer(): string {
    return path.join(this.folder, "stacks", "config", "layers", "prod.yaml");
  }

  private writeLayer(cluster: object): void {
    mkdirSync(path.dirname(this.layer), { recursive: true });
    const config = { "foresail:system": "ssh", "foresail:cluster": cluster };
    writeFileSync(this.layer, stringify({ config }));
  }

  /** Changes fields of the cluster in the layer, and so in every region. */
  changeLayer(fields: object): void {
    const { config } = parse(readFileSync(this.layer, "utf8")) as { config: Record<string, object> };
    this.writeLayer({ ...config["foresail:cluster"], ...fields });
  }

  /** Runs git on the stack files and fleet.yaml. */
  git(...args: string[]): string {
    const identity = ["-c", "user.name=foresail", "-c", "user.email=foresail@localhost"];
    return execFileSync("git", [...identity, ...args], { cwd: this.folder, encoding: "utf8" });
  }

  /** The Nodes of a region. */
  async nodesOf(region: string): Promise<Node[]> {
    const { kubeconfig } = await this.stack(region).outputs();
    return withApi(String(kubeconfig), (client) => client.listNodes());
  }

  stack(region: string): TestStack {
    return this.stacks.get(region)!;
  }

  /** Powers the machine of a region off at once. */
  powerOff(region: string): Promise<void> {
    return this.nodes.get(region)!.kill(MACHINE);
  }

  /** Powers the machine of a region on, and waits until its API server answers. */
  async powerOn(region: string): Promise<void> {
    await this.nodes.get(region)!.start(MACHINE);
    await this.nodesOf(region);
  }

  async remove(): Promise<void> {
    for (const fleet of this.nodes.values()) await fleet.deleteAll();
    removeFolder(this.folder);
  }
}

/** The name of a region's machines in the sandbox. */
const fleetOf = (region: string) => `region-${region}`;
