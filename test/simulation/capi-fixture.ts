import { setTimeout as pause } from "node:timers/promises";
import { KubernetesClient, type NewObject } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { bootstrapProvider, type JoinData } from "../../sandbox/capi/bootstrap-provider";
import type { Controller } from "../../sandbox/capi/controller";
import { DOCKER_JOIN_DATA, DockerProvider } from "../../sandbox/capi/docker/provider";
import type { DockerFaults } from "../../sandbox/capi/docker/commands";
import { infrastructureProvider } from "../../sandbox/capi/infrastructure-provider";
import {
  CLUSTER_API,
  providerDefinitions,
  type ProviderKinds,
  SANDBOX_KINDS,
} from "../../sandbox/capi/kinds";
import { PlainNodes, type PoolMachines } from "../../sandbox/capi/machines";
import { convertedDefinitions, managerCommand, managerDefinitions } from "../../sandbox/capi/manager";
import { POOL_CLUSTER, untilManagerReady } from "../../sandbox/capi/sandbox-cluster";
import { registerCluster } from "../../sandbox/capi/workload-cluster";
import { installDefinitions, readObjects } from "../../sandbox/management/definitions";
import {
  type ApiServerPrograms,
  BareApiServer,
  type BareApiServerOptions,
  freePorts,
} from "./bare-api-server";

/** The cluster whose pools the tests make. */
export const CLUSTER = POOL_CLUSTER;

const WEBHOOK = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  name: "machinepools",
};

interface CapiFixtureOptions {
  readonly programs: ApiServerPrograms;
  /** Cluster API's core manager. */
  readonly manager: string;
  /** How long the fakes take for the join data, to a pool's first machine and to each Node. */
  readonly milliseconds?: number;
  readonly apiServerArguments?: readonly string[];
  /** The management cluster's port and what it starts from. */
  readonly apiServer?: Pick<BareApiServerOptions, "port" | "saved">;
  /** Cluster API's own provider for Docker beside the sandbox's, on a simulated Docker engine. */
  readonly docker?: { readonly program: string } & DockerFaults;
  /** A cluster of its own for the pools' nodes; default: plain Node objects in the management cluster. */
  readonly workload?: Workload;
}

/** A cluster that pools' machines join, and how they do. */
interface Workload {
  /** As this machine reaches it. */
  readonly kubeconfig: string;
  readonly machines: PoolMachines;
  readonly joinData: JoinData;
}

/**
 * Cluster API's real core manager on a real API server, with the sandbox's bootstrap and infrastructure providers in
 * this process. The API server is management and workload cluster in one, unless another is given: the pools' Nodes are
 * plain objects in it.
 */
export class CapiFixture {
  readonly api: BareApiServer;
  kubernetes!: KubernetesClient;
  /** Errors of the fakes. */
  readonly complaints: string[] = [];
  private controllers: Controller[] = [];
  private readonly kinds: ProviderKinds[] = [SANDBOX_KINDS];
  private webhookPort = 0;
  /** The provider for Docker. */
  docker: DockerProvider | undefined;

  constructor(private readonly options: CapiFixtureOptions) {
    const { programs, apiServerArguments, apiServer } = options;
    this.api = new BareApiServer({
      ...apiServer,
      programs,
      // owned objects are deleted with their owner, and namespaces terminate
      controllers: ["garbage-collector-controller", "namespace-controller"],
      ...(apiServerArguments && { apiServerArguments }),
    });
  }

  async start(): Promise<this> {
    await this.api.start();
    this.kubernetes = await KubernetesClient.connect({ kubeconfig: this.api.kubeconfig() }, { seconds: 10 });
    const [webhook = 0, diagnostics = 0, health = 0] = await freePorts(3);
    this.webhookPort = webhook;
    const plain = await readObjects(await managerDefinitions(this.options.manager));
    const definitions = convertedDefinitions(plain, this.api.server, webhook);
    await installDefinitions(this.kubernetes, [...definitions, ...providerDefinitions(SANDBOX_KINDS)]);
    const ports = { webhook, diagnostics, health };
    const { environment, ...command } = managerCommand(this.options.manager, this.api.server, ports);
    this.api.run("manager", command, environment);
    await untilManagerReady(health, 60);
    const { workload, docker } = this.options;
    this.docker = docker && (await new DockerProvider(this.api.server, this.kubernetes, docker).start());
    if (this.docker) {
      const { environment, ...command } = await this.docker.install(await freePorts(3));
      this.api.run("docker-provider", command, environment);
    }
    const kubeconfig = workload?.kubeconfig ?? this.api.kubeconfig();
    await registerCluster(this.kubernetes, CLUSTER, kubeconfig, await this.docker?.createCluster(CLUSTER));
    await this.startProviders();
    return this;
  }

  /** Has the fakes serve the kinds of other providers besides their own. */
  async serveKinds(kinds: ProviderKinds): Promise<void> {
    await installDefinitions(this.kubernetes, providerDefinitions(kinds));
    this.kinds.push(kinds);
    this.stopProviders();
    await this.startProviders();
  }

  async startProviders(milliseconds = this.options.milliseconds ?? 0): Promise<void> {
    const say = (line: string) => void this.complaints.push(line);
    const client = () => KubernetesClient.connect({ kubeconfig: this.api.kubeconfig() }, { seconds: 10 });
    const own = await client();
    const { machines, joinData }: Pick<Workload, "machines" | "joinData"> = this.options.workload ?? {
      machines: new PlainNodes(own, milliseconds),
      joinData: () => pause(milliseconds, this.docker ? DOCKER_JOIN_DATA : "#cloud-config"),
    };
    this.controllers = this.kinds.flatMap(({ config, pool }) => [
      bootstrapProvider(own, config, joinData, say),
      infrastructureProvider(own, pool, machines, say),
    ]);
    for (const controller of this.controllers) void controller.run().finally(() => undefined);
  }

  /** Has the API server ask the manager's own webhook about every MachinePool. */
  async registerWebhook(): Promise<void> {
    const rule = { apiGroups: ["cluster.x-k8s.io"], apiVersions: ["v1beta1"], resources: ["machinepools"] };
    const url = `https://127.0.0.1:${this.webhookPort}/validate-cluster-x-k8s-io-v1beta1-machinepool`;
    await this.kubernetes.apply({
      apiVersion: WEBHOOK.apiVersion,
      kind: WEBHOOK.kind,
      metadata: { name: WEBHOOK.name },
      webhooks: [
        {
          name: "validation.machinepool.cluster.x-k8s.io",
          clientConfig: {
            url,
            caBundle: Buffer.from(this.api.server.authorityCertificate).toString("base64"),
          },
          rules: [{ ...rule, operations: ["CREATE", "UPDATE"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          failurePolicy: "Fail",
        },
      ],
    });
    // the API server learns of it by a watch of its own
    await waitFor<void>({
      what: "the webhook to be asked",
      seconds: 20,
      probe: async () => {
        const ref = {
          apiVersion: CLUSTER_API,
          kind: "MachinePool",
          namespace: CLUSTER.namespace,
          name: "asked",
        };
        const spec = {
          clusterName: "x",
          replicas: 0,
          template: { spec: { clusterName: "y", bootstrap: {}, infrastructureRef: {} } },
        };
        const answer = await this.kubernetes
          .create({
            apiVersion: ref.apiVersion,
            kind: ref.kind,
            metadata: { name: ref.name, namespace: ref.namespace },
            spec,
          })
          .then(
            () => "made",
            (error: Error) => error.message,
          );
        if (/denied the request/.test(answer)) return { done: undefined };
        await this.kubernetes.delete(ref);
        return { pending: answer };
      },
    });
  }

  async removeWebhook(): Promise<void> {
    await this.kubernetes.delete(WEBHOOK);
  }

  stopProviders(): void {
    for (const controller of this.controllers) controller.stop();
  }

  async stop(): Promise<void> {
    this.stopProviders();
    this.docker?.stop();
    this.kubernetes?.close();
    await this.api.stop();
  }

  /** Any object of Cluster API in the cluster's namespace. */
  get<O = NewObject>(apiVersion: string, kind: string, name: string): Promise<O | undefined> {
    return this.kubernetes.get<O>({ apiVersion, kind, namespace: CLUSTER.namespace, name });
  }
}
