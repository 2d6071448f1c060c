import type * as pulumi from "@pulumi/pulumi";
import { OpenstackCluster } from "../components/openstack/openstack-cluster";
import type {
  CloudProviderArgs,
  NetworkArgs,
  OpenstackEndpointArgs,
} from "../components/openstack/openstack-cluster-args";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ConfigurationOf, OpenstackSection } from "./schema";

/** Builds a stack of the system "openstack": pools of OpenStack servers and a kubeadm cluster on them. */
export function openstack(
  configuration: ConfigurationOf<"openstack">,
): Record<string, pulumi.Output<unknown>> {
  const { cluster, openstack: section, cloudApplicationCredential } = configuration;
  const { network, endpoint, access, cloudProvider, ...args } = section;
  const made = new OpenstackCluster(cluster.name, {
    ...args,
    network: networkArgs(network),
    endpoint: endpoint as OpenstackEndpointArgs,
    access: { ssh: access.ssh, api: access.api, nodePorts: access.nodePorts },
    sshPort: cluster.ssh.port,
    cloudProvider: {
      ...(cloudProvider as CloudProviderArgs),
      ...(cloudApplicationCredential ? { applicationCredential: cloudApplicationCredential } : {}),
    },
    cluster: kubeadmArguments(configuration),
  });
  const { kubeconfig, endpoints, nodes, version, certificatesExpire, servers, remaining } = made;
  return { kubeconfig, endpoints, nodes, version, certificatesExpire, servers, remaining };
}

function networkArgs({ id, dnsNameservers, ...others }: OpenstackSection["network"]): NetworkArgs {
  if (id !== undefined) return { id, ...others };
  return { dnsNameservers, ...others, externalNetwork: others.externalNetwork ?? "" };
}
