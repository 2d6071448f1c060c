import { KubernetesClient, type NewObject } from "../../clients/kubernetes";
import { waitFor } from "../../clients/wait";
import { bootstrapProvider } from "../../sandbox/capi/bootstrap-provider";
import type { Controller } from "../../sandbox/capi/controller";
import { infrastructureProvider } from "../../sandbox/capi/infrastructure-provider";
import { PROVIDER_DEFINITIONS } from "../../sandbox/capi/kinds";
import { PlainNodes } from "../../sandbox/capi/machines";
import { managerCommand, managerDefinitions } from "../../sandbox/capi/manager";
import { registerCluster } from "../../sandbox/capi/workload-cluster";
import { installDefinitions, readObjects } from "../../sandbox/management/definitions";
import { type ApiServerPrograms, BareApiServer, freePorts } from "./bare-api-server";

/** The cluster whose pools the tests make. */
export const CLUSTER = { namespace: "demo", name: "demo" };

export interface CapiGroundOptions {
  readonly programs: ApiServerPrograms;
  /** Cluster API's core manager. */
  readonly manager: string;
  /** From a machine's creation to its Node. */
  readonly milliseconds?: number;
  readonly apiServerArguments?: readonly string[];
}

/**
 * Cluster API's real core manager on a real API server, with the sandbox's bootstrap and infrastructure providers in
 * this process. The API server is management and workload cluster in one: the pools' Nodes are plain objects in it.
 */
export class CapiGround {
  readonly api: BareApiServer;
  kubernetes!: KubernetesClient;
  /** What the stand-ins complained of. */
  readonly complaints: string[] = [];
  private controllers: Controller[] = [];

  constructor(private readonly options: CapiGroundOptions) {
    const { programs, apiServerArguments } = options;
    this.api = new BareApiServer({
      programs,
      // what is owned goes with its owner, and namespaces end
      controllers: ["garbage-collector-controller", "namespace-controller"],
      ...(apiServerArguments && { apiServerArguments }),
    });
  }

  async start(): Promise<this> {
    await this.api.start();
    this.kubernetes = await KubernetesClient.connect({ kubeconfig: this.api.kubeconfig() }, { seconds: 10 });
    const definitions = await readObjects(await managerDefinitions(this.options.manager));
    await installDefinitions(this.kubernetes, [...definitions, ...PROVIDER_DEFINITIONS]);
    await this.startManager();
    await registerCluster(this.kubernetes, CLUSTER, this.api.kubeconfig());
    await this.startProviders();
    return this;
  }

  /** Starts the manager, and waits until it works. */
  async startManager(): Promise<void> {
    const [webhook = 0, diagnostics = 0, health = 0] = await freePorts(3);
    const { environment, ...command } = managerCommand(this.options.manager, this.api.server, {
      webhook,
      diagnostics,
      health,
    });
    this.api.run("manager", command, environment);
    await waitFor<void>({
      what: "Cluster API's manager to be ready",
      seconds: 60,
      longestPauseMilliseconds: 500,
      probe: async () => {
        const answer = await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined);
        return answer?.ok ? { done: undefined } : { pending: "not ready" };
      },
    });
  }

  async startProviders(milliseconds = this.options.milliseconds ?? 0): Promise<void> {
    const say = (line: string) => void this.complaints.push(line);
    const client = () => KubernetesClient.connect({ kubeconfig: this.api.kubeconfig() }, { seconds: 10 });
    const own = await client();
    this.controllers = [
      bootstrapProvider(own, () => Promise.resolve("#cloud-config"), say),
      infrastructureProvider(own, new PlainNodes(own, milliseconds), say),
    ];
    for (const controller of this.controllers) void controller.run().finally(() => undefined);
  }

  stopProviders(): void {
    for (const controller of this.controllers) controller.stop();
  }

  async stop(): Promise<void> {
    this.stopProviders();
    this.kubernetes?.close();
    await this.api.stop();
  }

  /** Any object of Cluster API in the cluster's namespace. */
  get<O = NewObject>(apiVersion: string, kind: string, name: string): Promise<O | undefined> {
    return this.kubernetes.get<O>({ apiVersion, kind, namespace: CLUSTER.namespace, name });
  }
}
