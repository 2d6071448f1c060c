import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { KubernetesClient } from "../lib/kubernetes";
import { BareApiServer } from "../test/simulation/bare-api-server";
import { simulationPrograms } from "../test/simulation/programs";
import { SimulatedFleet } from "../test/simulation/simulated-fleet";
import type { StackContent } from "./stack";

const VERSION = "1.36.3";
// in the folder of the API server, where it runs
const AUDIT_POLICY = "audit-policy.yaml";
const AUDIT_LOG = "audit.log";

/** Machines that answer SSH and an API server, without real workloads. */
export class Simulation {
  private constructor(
    private readonly api: BareApiServer,
    private readonly fleet: SimulatedFleet,
    /** one control plane and the workers, in the order in which stacks use them */
    readonly names: readonly string[],
  ) {}

  /**
   * @param workers the maximum number of machines besides the one control plane
   * @param options.version of the kubelets
   * @param options.audited whether requests are counted, which costs the API server a little
   */
  static async start(
    workers: number,
    { version = VERSION, audited = false }: { version?: string; audited?: boolean } = {},
  ): Promise<Simulation> {
    const names = ["cp-1", ...Array.from({ length: workers }, (_, index) => `w-${index + 1}`)];
    const programs = await simulationPrograms();
    // no controllers: their work is not part of foresail's cost
    const api = new BareApiServer({
      programs: { etcd: programs.etcd, kubeApiserver: programs.kubeApiserver },
      apiServerArguments: audited
        ? [`--audit-policy-file=${AUDIT_POLICY}`, `--audit-log-path=${AUDIT_LOG}`]
        : [],
    });
    writeFileSync(
      path.join(api.folder, AUDIT_POLICY),
      "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n",
    );
    await api.start();
    try {
      const fleet = await SimulatedFleet.start({ api, machines: names, version: `v${version}` });
      return new Simulation(api, fleet, names);
    } catch (error) {
      await api.stop();
      throw error;
    }
  }

  /** Returns the stack of the first machines, up to this number. */
  content(machines: number, version = VERSION): StackContent {
    return {
      privateKey: this.fleet.privateKey,
      cluster: {
        name: "bench",
        version,
        source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
        // a /24 for each machine
        network: { plugin: { bridge: {} }, podSubnet: "10.240.0.0/13" },
        machines: this.names.slice(0, machines).map((name) => this.machine(name)),
      },
    };
  }

  /** Returns one machine in the format of the configuration. */
  machine(name: string): Record<string, unknown> {
    const { apiServer, ...machine } = this.fleet.machine(name);
    const index = this.names.indexOf(name);
    const internalAddress = `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;
    if (index === 0) return { ...machine, internalAddress, role: "control-plane", apiServer };
    return { ...machine, internalAddress, role: "worker" };
  }

  /** Marks a machine as prepared. */
  markPrepared(name: string): void {
    const { files } = this.fleet;
    files.saveState(name, { ...files.state(name), prepared: true });
  }

  /** Records the cluster's version where kubeadm does, which the simulated machines do not. */
  async noteClusterVersion(version: string): Promise<void> {
    await this.withClient((client) =>
      client.apply({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { namespace: "kube-system", name: "kubeadm-config" },
        data: { ClusterConfiguration: `kubernetesVersion: v${version}\n` },
      }),
    );
  }

  /** Calls the API server directly. */
  async withClient<T>(work: (client: KubernetesClient) => Promise<T>): Promise<T> {
    const client = await KubernetesClient.connect({ kubeconfig: this.api.kubeconfig() }, { seconds: 60 });
    return work(client).finally(() => client.close());
  }

  /** Returns how many requests of foresail the API server of an audited simulation has answered so far. */
  requests(): number {
    const log = readFileSync(path.join(this.api.folder, AUDIT_LOG), "utf8");
    return log.split("\n").filter((line) => {
      if (!line.endsWith("}")) return false;
      const { stage, userAgent } = JSON.parse(line) as { stage?: string; userAgent?: string };
      return stage === "ResponseComplete" && (userAgent ?? "").startsWith("foresail/");
    }).length;
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    await this.api.stop();
  }
}
