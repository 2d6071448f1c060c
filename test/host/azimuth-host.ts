import { KubernetesClient } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { SET_UP_MILLISECONDS } from "../engine/simulated-fixture";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { makeClusterObjects } from "./azimuth-objects";
import { ProviderHost } from "./provider-host";

const NAMESPACE = "az-demo";

interface Options {
  /** Makes what is on the management cluster at first. @default the objects of a cluster "demo" */
  prepare?: (client: KubernetesClient, place: { namespace: string; kubeconfig: string }) => Promise<unknown>;
  /** Of the next start of the API server. */
  apiServerArguments?: string[];
}

/** The handlers of a cluster "demo", with a real API server as its management cluster; lives as long as a suite. */
export class AzimuthHost {
  api!: BareApiServer;
  host!: ProviderHost;
  client!: KubernetesClient;

  constructor(options: Options = {}) {
    const start = () => this.start(options);
    before(function () {
      this.timeout(SET_UP_MILLISECONDS);
      return start();
    });
    after(() => this.stop());
  }

  private async start({ prepare = makeClusterObjects, apiServerArguments = [] }: Options): Promise<void> {
    const { etcd, kubeApiserver } = await simulationPrograms();
    this.api = await new BareApiServer({ programs: { etcd, kubeApiserver }, apiServerArguments }).start();
    const kubeconfig = this.api.kubeconfig();
    this.client = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    await prepare(this.client, { namespace: NAMESPACE, kubeconfig });
    this.host = await ProviderHost.inClone();
  }

  private async stop(): Promise<void> {
    // absent after a failed start
    const { host, client, api }: Partial<AzimuthHost> = this;
    await host?.stop();
    client?.close();
    await api?.stop();
  }

  /** Returns the inputs that every resource of the cluster has. */
  readonly inputs = (over: object = {}) => ({
    kubeconfig: this.api.kubeconfig(),
    stack: "foresail/test",
    namespace: NAMESPACE,
    cluster: "demo",
    ...over,
  });

  /** Returns the names of the services in the cluster's record. */
  readonly services = async (): Promise<string[]> => {
    const ref = { apiVersion: API.azimuth, kind: "Cluster", namespace: NAMESPACE, name: "demo" };
    const record = await this.client.get<{ status?: { services?: object } }>(ref);
    return Object.keys(record?.status?.services ?? {});
  };

  /** Returns the names of the services in the cluster's Platform. */
  readonly platform = async (): Promise<string[]> => {
    const ref = { apiVersion: API.identity, kind: "Platform", namespace: NAMESPACE, name: "kube-demo" };
    const found = await this.client.get<{ spec: { zenithServices?: object } }>(ref);
    return Object.keys(found?.spec.zenithServices ?? {});
  };
}
