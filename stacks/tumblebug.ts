import { DEFAULT_LOOPBACK } from "../providers/kubeadm/plan/defaults";
import type * as pulumi from "@pulumi/pulumi";
import { readStackResources } from "../lib/pulumi/stack";
import { TumblebugCluster } from "../components/tumblebug/tumblebug-cluster";
import type { TumblebugEndpointArgs } from "../components/tumblebug/tumblebug-cluster-args";
import { defaultNodeAddresses } from "../providers/tumblebug/plan/validation";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { TumblebugConfiguration, TumblebugSection } from "./schema";

/** Builds a stack of the system "tumblebug": VMs from a CB-Tumblebug server and a kubeadm cluster on them. */
export async function tumblebug(
  configuration: TumblebugConfiguration,
): Promise<Record<string, pulumi.Output<unknown>>> {
  const { cluster, tumblebug: section, tumblebugCredentials } = configuration;
  const { address, generation, caBundle, namespace, infrastructure, resources, access } = section;
  const made = new TumblebugCluster(cluster.name, {
    server: {
      address,
      generation,
      ...(tumblebugCredentials ? { credentials: tumblebugCredentials } : {}),
      ...(caBundle === undefined ? {} : { caBundle }),
    },
    namespace,
    createNamespace: section.createNamespace,
    ...(infrastructure === undefined ? {} : { infrastructure }),
    connections: section.connections.map(({ name, cidr }) => ({
      name,
      ...(cidr === undefined ? {} : { cidr }),
    })),
    groups: section.groups,
    networkCidr: section.network.cidr,
    nodeAddresses: section.nodeAddresses ?? defaultNodeAddresses(section.groups),
    endpoint: endpoint(section),
    access: { ssh: access.ssh, api: access.api, nodePorts: access.nodePorts, nodes: access.nodes },
    resources: {
      ...(resources.prefix === undefined ? {} : { prefix: resources.prefix }),
      keepOnDelete: resources.keepOnDelete,
    },
    user: section.user,
    replace: section.replace,
    lost: section.lost,
    timeouts: section.timeouts,
    allowMock: section.allowMock,
    cluster: kubeadmArguments(configuration),
    existing: await readStackResources(),
  });
  const { kubeconfig, endpoints, nodes, version, vms, remaining, status } = made;
  return { kubeconfig, endpoints, nodes, version, vms, remaining, status };
}

function endpoint({ endpoint: { loopback, nlb, external } }: TumblebugSection): TumblebugEndpointArgs {
  if (nlb) return { nlb };
  if (external) return { external };
  return { loopback: loopback ?? DEFAULT_LOOPBACK };
}
