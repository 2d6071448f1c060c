import path from "node:path";
import { ensureProgramBundle } from "../../sandbox/nodes/program-bundle";
import { projectFolder } from "../../sandbox/nodes/paths";
import { REGION } from "../../sandbox/openstack/configuration/common";
import { CLOUD_NAMES, PROJECT_USER } from "../../sandbox/openstack/seed";
import { setUp } from "../../sandbox/set-up";
import { CLOUD_PROVIDER_VERSION } from "../../sandbox/toolchain/cloud-provider-openstack-program";
import { ChartRepository } from "../support/chart-repository";
import { OpenstackTestCluster, type DesiredOpenstack } from "./openstack-test-cluster";
import { silent } from "./test-cluster";

const BUNDLE = "openstack-cloud-controller-manager";
/** The charts of cloud-provider-openstack 1.N.P are 2.N.P. */
const CHART_VERSION = CLOUD_PROVIDER_VERSION.replace(/^1/, "2");
const COMMON_CHART = path.join(projectFolder, "test", "support", "charts", "common");

/** A cloud whose clusters may have the real cloud controller manager: its image and charts, and APIs that they reach. */
export class CloudProviderFixture {
  private constructor(
    readonly cluster: OpenstackTestCluster,
    private readonly charts: ChartRepository,
  ) {}

  static async create(name: string): Promise<CloudProviderFixture> {
    const needs = {
      programs: ["plugin-kubernetes", "cloud-provider-openstack"],
      kubernetes: [],
      nodes: false,
    } as const;
    const program = (await setUp(needs, silent)).program("cloud-provider-openstack");
    const image = {
      reference: `registry.k8s.io/provider-os/openstack-cloud-controller-manager:v${CLOUD_PROVIDER_VERSION}`,
      version: CLOUD_PROVIDER_VERSION,
      program,
      target: "/bin/openstack-cloud-controller-manager",
    };
    await ensureProgramBundle(BUNDLE, image, silent);
    const folder = path.dirname(program);
    const charts = await ChartRepository.start([
      { folder: path.join(folder, "openstack-cloud-controller-manager"), dependencies: [COMMON_CHART] },
      { folder: path.join(folder, "cinder-csi-plugin") },
    ]);
    try {
      const options = { octavia: true, bundles: [BUNDLE], reachedByServers: true };
      return new CloudProviderFixture(await OpenstackTestCluster.create(name, options), charts);
    } catch (error) {
      await charts.stop();
      throw error;
    }
  }

  /** The fields of a chart. */
  readonly chart = { version: CHART_VERSION };

  /** Writes the stack's configuration. @param cloudProvider fields besides the repository and the versions */
  async configure(desired: DesiredOpenstack, cloudProvider: Record<string, unknown> = {}): Promise<void> {
    const charts = {
      repository: this.charts.url,
      // the controller asks for the driver "amphora" by its name otherwise
      cloudConf: { LoadBalancer: { "lb-provider": "foresail" } },
      cloudControllerManager: this.chart,
      cinder: { enabled: false },
    };
    // an application credential may make no other
    await this.cluster.configure({
      as: CLOUD_NAMES.user,
      cloudProvider: { ...charts, ...cloudProvider },
      ...desired,
    });
  }

  /** Adds a volume service, which no process serves, to the cloud's catalog. */
  async announceVolumes(): Promise<void> {
    const administrator = await this.cluster.cloud.api("administrator");
    const ask = (path: string, body: object) => administrator.call("keystone", "POST", `/v3/${path}`, body);
    const { service } = (await ask("services", { service: { type: "volumev3", name: "cinder" } })) as {
      service: { id: string };
    };
    const endpoint = { service_id: service.id, interface: "public", url: "http://127.0.0.1:9/v3" };
    await ask("endpoints", { endpoint: { ...endpoint, region_id: REGION } });
  }

  /** The application credentials of the project's user, by name. */
  async applicationCredentials(): Promise<string[]> {
    const administrator = await this.cluster.cloud.api("administrator");
    const { users } = (await administrator.call("keystone", "GET", `/v3/users?name=${PROJECT_USER}`)) as {
      users: { id: string }[];
    };
    const path = `/v3/users/${users[0]?.id}/application_credentials`;
    const answer = (await administrator.call("keystone", "GET", path)) as {
      application_credentials: { name: string }[];
    };
    return answer.application_credentials.map(({ name }) => name).sort();
  }

  /** Removes everything. */
  async remove(): Promise<void> {
    await this.charts.stop();
    await this.cluster.remove();
  }
}
