import type * as pulumi from "@pulumi/pulumi";
import { TumblebugCluster } from "../components/tumblebug/tumblebug-cluster";
import type { TumblebugEndpointArgs } from "../components/tumblebug/tumblebug-cluster-args";
import { defaultNodeAddresses } from "../providers/tumblebug/plan/validation";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ConfigurationOf } from "./schema";

/** Builds a stack of the system "tumblebug": VMs from a CB-Tumblebug server and a kubeadm cluster on them. */
export function tumblebug(
  configuration: ConfigurationOf<"tumblebug">,
): Record<string, pulumi.Output<unknown>> {
  const { cluster, tumblebug: section, tumblebugCredentials } = configuration;
  const { address, allowHttp, generation, caBundle, endpoint, nodeAddresses, access, ...args } = section;
  const made = new TumblebugCluster(cluster.name, {
    ...args,
    server: {
      address,
      allowHttp,
      generation,
      ...(tumblebugCredentials ? { credentials: tumblebugCredentials } : {}),
      ...(caBundle === undefined ? {} : { caBundle }),
    },
    nodeAddresses: nodeAddresses ?? defaultNodeAddresses(section.groups),
    endpoint: endpoint as TumblebugEndpointArgs,
    access: { ssh: access.ssh, api: access.api, nodePorts: access.nodePorts, nodes: access.nodes },
    cluster: kubeadmArguments(configuration),
  });
  const { kubeconfig, endpoints, nodes, version, certificatesExpire, vms, remaining, status } = made;
  return { kubeconfig, endpoints, nodes, version, certificatesExpire, vms, remaining, status };
}
