import type * as pulumi from "@pulumi/pulumi";
import { OpenstackCluster } from "../components/openstack/openstack-cluster";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ConfigurationOf } from "./schema";

/** Builds a stack of the system "openstack": pools of OpenStack servers and a kubeadm cluster on them. */
export function openstack(
  configuration: ConfigurationOf<"openstack">,
): Record<string, pulumi.Output<unknown>> {
  const { cluster, openstack: section, cloudApplicationCredential } = configuration;
  const made = new OpenstackCluster(cluster.name, {
    ...section,
    cloudProvider: { ...section.cloudProvider, applicationCredential: cloudApplicationCredential },
    cluster: kubeadmArguments(configuration),
  });
  const { kubeconfig, endpoints, nodes, version, certificatesExpire, servers, remaining } = made;
  return { kubeconfig, endpoints, nodes, version, certificatesExpire, servers, remaining };
}
