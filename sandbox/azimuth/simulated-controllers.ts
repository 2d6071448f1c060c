import { KubernetesClient } from "../../lib/kubernetes";
import { follow } from "../../lib/kubernetes/follow";
import { runAddons } from "./controllers/addons";
import { runClusterApi } from "./controllers/cluster-api";
import type { Context } from "./controllers/controller";
import { runIdentity } from "./controllers/identity";
import { runSchedule } from "./controllers/schedule";
import { runZenith } from "./controllers/zenith";
import { AZIMUTH_DEFINITIONS, CLUSTER_API_DEFINITIONS, ZENITH_DEFINITIONS } from "./definitions";
import { Faults, type Faulty } from "./faults";
import { installDefinitions } from "../management/definitions";

interface ControllersOptions {
  /** of the management cluster, with all rights */
  readonly kubeconfig: string;
  /** of the target cluster that represents every Cluster; default: the management cluster itself */
  readonly targetKubeconfig?: string;
  /** How often the timer of Leases runs, in milliseconds; default: one minute, as in the real operator. */
  readonly leaseCheckMilliseconds?: number;
  readonly say?: (line: string) => void;
}

const CONNECT_SECONDS = 30;
/** Where Platforms' discovery Secrets are. */
const DISCOVERY_NAMESPACE = "zenith-services";

/** All simulated controllers of a management cluster with Azimuth, in this process. */
export class SimulatedControllers {
  readonly faults = new Faults();
  private readonly end = new AbortController();
  private running: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly client: KubernetesClient,
    readonly target: KubernetesClient,
  ) {}

  /** Installs the custom resources and starts the controllers. */
  static async start(options: ControllersOptions): Promise<SimulatedControllers> {
    const { kubeconfig, targetKubeconfig } = options;
    const userAgent = "azimuth-controllers";
    const connect = (access: string) =>
      KubernetesClient.connect({ kubeconfig: access }, { seconds: CONNECT_SECONDS, userAgent });
    const client = await connect(kubeconfig);
    const target = targetKubeconfig === undefined ? client : await connect(targetKubeconfig);
    const controllers = new SimulatedControllers(client, target);
    await installDefinitions(client, [...AZIMUTH_DEFINITIONS, ...CLUSTER_API_DEFINITIONS]);
    await installDefinitions(target, ZENITH_DEFINITIONS);
    await client.apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: DISCOVERY_NAMESPACE },
    });
    controllers.run(options);
    return controllers;
  }

  async stop(): Promise<void> {
    this.end.abort();
    await this.running.catch(() => undefined);
    this.client.close();
    this.target.close();
  }

  /** Follows the faults that namespace annotations request for objects that do not exist yet. */
  private followFaults(): Promise<void> {
    return follow<{ metadata?: Partial<Faulty> }>(this.client, {
      apiVersion: "v1",
      kind: "Namespace",
      signal: this.end.signal,
      onObjects: (namespaces) => this.faults.takeNamespaces(namespaces),
    });
  }

  private run({
    kubeconfig,
    targetKubeconfig = kubeconfig,
    leaseCheckMilliseconds,
    say = () => undefined,
  }: ControllersOptions): void {
    const { client, target, faults } = this;
    const around: Context = { client, faults, say, signal: this.end.signal };
    this.running = Promise.all([
      runIdentity(around),
      runSchedule(around, leaseCheckMilliseconds),
      runClusterApi(around, () => targetKubeconfig),
      runAddons(around, () => Promise.resolve(target)),
      runZenith({ ...around, client: target }),
      this.followFaults(),
    ]);
    this.running.catch((error: unknown) => say(`simulated controllers: ${String(error)}`));
  }
}
