import type * as pulumi from "@pulumi/pulumi";
import { TumblebugCluster } from "../components/tumblebug/tumblebug-cluster";
import { kubeadmArguments } from "./kubeadm-arguments";
import type { ConfigurationOf } from "./schema";

/** Builds a stack of the system "tumblebug": VMs from a CB-Tumblebug server and a kubeadm cluster on them. */
export function tumblebug(
  configuration: ConfigurationOf<"tumblebug">,
): Record<string, pulumi.Output<unknown>> {
  const { cluster, tumblebug: section, tumblebugCredentials } = configuration;
  const made = new TumblebugCluster(cluster.name, {
    ...section,
    credentials: tumblebugCredentials,
    cluster: kubeadmArguments(configuration),
  });
  const { kubeconfig, endpoints, nodes, version, certificatesExpire, vms, remaining, status } = made;
  return { kubeconfig, endpoints, nodes, version, certificatesExpire, vms, remaining, status };
}
