import { DEFAULT_LOOPBACK } from "../providers/kubeadm/plan/defaults";
import type * as pulumi from "@pulumi/pulumi";
import { OpenstackCluster } from "../components/openstack/openstack-cluster";
import type {
  CloudProviderArgs,
  NetworkArgs,
  OpenstackEndpointArgs,
} from "../components/openstack/openstack-cluster-args";
import { readStackResources } from "../lib/pulumi/stack";
import type { JsonObject } from "../lib/merge";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { OpenstackConfiguration, OpenstackSection } from "./schema";

/** Builds a stack of the system "openstack": pools of OpenStack servers and a kubeadm cluster on them. */
export async function openstack(
  configuration: OpenstackConfiguration,
): Promise<Record<string, pulumi.Output<unknown>>> {
  const { cluster, openstack: section, cloudApplicationCredential } = configuration;
  const { cloud, region, keypair, userData, access, replace, cloudProvider } = section;
  const made = new OpenstackCluster(cluster.name, {
    ...(cloud === undefined ? {} : { cloud }),
    ...(region === undefined ? {} : { region }),
    network: network(section),
    publicKey: keypair.publicKey,
    ...(userData === undefined ? {} : { userData }),
    pools: section.pools,
    endpoint: endpoint(section),
    access: { ssh: access.ssh, api: access.api, nodePorts: access.nodePorts },
    sshPort: cluster.ssh.port,
    replace,
    cloudProvider: {
      ...cloudAddons(cloudProvider),
      ...(cloudApplicationCredential ? { applicationCredential: cloudApplicationCredential } : {}),
    },
    cluster: kubeadmArguments(configuration),
    existing: await readStackResources(),
  });
  const { kubeconfig, endpoints, nodes, version, servers, remaining } = made;
  return { kubeconfig, endpoints, nodes, version, servers, remaining };
}

function network({ network: { id, cidr, dnsNameservers, externalNetwork } }: OpenstackSection): NetworkArgs {
  const external = externalNetwork ?? "";
  if (id === undefined) return { cidr, dnsNameservers, externalNetwork: external };
  return { id, cidr, ...(externalNetwork === undefined ? {} : { externalNetwork }) };
}

function endpoint({ endpoint: { loopback, octavia, external } }: OpenstackSection): OpenstackEndpointArgs {
  if (octavia) return { octavia };
  if (external) return { external };
  return { loopback: loopback ?? DEFAULT_LOOPBACK };
}

function cloudAddons(desired: OpenstackSection["cloudProvider"]): CloudProviderArgs {
  const { enabled, repository, cloudConf, cloudControllerManager, cinder } = desired;
  const chart = ({ version, values }: { version?: string | undefined; values: Record<string, unknown> }) => ({
    ...(version === undefined ? {} : { version }),
    values: values as JsonObject,
  });
  return {
    enabled,
    ...(repository === undefined ? {} : { repository }),
    cloudConf,
    cloudControllerManager: chart(cloudControllerManager),
    cinder: { enabled: cinder.enabled, ...chart(cinder) },
  };
}
