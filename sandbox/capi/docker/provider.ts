import type { KubernetesClient, NewObject } from "../../../lib/kubernetes";
import type { ApiServer, Command } from "../../management/api-server";
import { installDefinitions, readObjects } from "../../management/definitions";
import { CLUSTER_GROUP } from "../kinds";
import { registerNode } from "../machines";
import { convertedDefinitions, managerCommand, managerDefinitions } from "../manager";
import { ENDPOINT } from "../workload-cluster";
import type { Container } from "./commands";
import type { DockerFaults } from "./commands";
import { DockerEngine } from "./engine";

const API_VERSION = "infrastructure.cluster.x-k8s.io/v1beta2";
/** Such as in "kindest/node:v1.36.3". */
const VERSION = /v\d+\.\d+\.\d+/;

/** The join data of machines that the provider for Docker makes, as cloud-init reads it. */
export const DOCKER_JOIN_DATA = "#cloud-config\nruncmd:\n  - kubeadm join\n";

/**
 * Cluster API's own infrastructure provider for Docker (CAPD) on a simulated Docker engine. The provider is the real
 * program; a container that joins is a Node object in the workload cluster. A real engine would need the images
 * kindest/node, of more than a gigabyte each, and minutes for each machine.
 */
export class DockerProvider {
  readonly engine: DockerEngine;

  /**
   * @param server of the management cluster
   * @param workload the cluster whose Nodes its containers become
   */
  constructor(
    private readonly server: ApiServer,
    private readonly workload: KubernetesClient,
    private readonly options: { readonly program: string } & DockerFaults,
  ) {
    this.engine = new DockerEngine({ ...options, onJoin: (container) => this.join(container) });
  }

  async start(): Promise<this> {
    await this.engine.start();
    return this;
  }

  stop(): void {
    this.engine.stop();
  }

  /** Installs the provider's kinds. @returns its command. @param ports three free ports of 127.0.0.1 */
  async install([webhook = 0, diagnostics = 0, health = 0]: readonly number[]): Promise<
    Command & { environment: Record<string, string> }
  > {
    const { program } = this.options;
    const plain = await readObjects(await managerDefinitions(program));
    const labelled = plain.map((definition) => withContracts(definition));
    await installDefinitions(this.workload, convertedDefinitions(labelled, this.server, webhook));
    const { environment, ...command } = managerCommand(program, this.server, {
      webhook,
      diagnostics,
      health,
    });
    return { ...command, environment: { ...environment, DOCKER_HOST: this.engine.host } };
  }

  /** Creates the provider's object of a Cluster. @returns the reference to it */
  async createCluster({ namespace, name }: { namespace: string; name: string }): Promise<{
    apiVersion: string;
    kind: string;
    name: string;
  }> {
    const ref = { apiVersion: API_VERSION, kind: "DockerCluster", name };
    const options = { fieldManager: "sandbox", force: true };
    await this.workload.apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      options,
    );
    const { apiVersion, kind } = ref;
    const spec = { controlPlaneEndpoint: ENDPOINT };
    await this.workload.apply({ apiVersion, kind, metadata: { name, namespace }, spec }, options);
    return ref;
  }

  private join({ name, image }: Container): Promise<void> {
    const version = VERSION.exec(image)?.[0] ?? "v0.0.0";
    return registerNode(this.workload, { name, version, isReady: true });
  }
}

/** The labels by which Cluster API finds the version that follows a contract. */
function withContracts(definition: NewObject): NewObject {
  const labels = { [`${CLUSTER_GROUP}/v1beta1`]: "v1beta1", [`${CLUSTER_GROUP}/v1beta2`]: "v1beta2" };
  return { ...definition, metadata: { ...definition.metadata, labels } };
}
