import { ArgumentReader } from "../../lib/pulumi/argument-reader";
import {
  type ClusterOfCloudArgs,
  ClusterOfCloudFields,
  type ClusterSettings,
  FIXED,
} from "./kubeadm-cluster-args";
import { readable } from "../../lib/validation/check";
import { settingRules } from "../../stacks/schema/cluster-rules";

/** What a cloud's plan needs before the run: blocks of the network, and machines that keep their versions. */
const CLOUD_FIXED = [...FIXED, "network.podSubnet", "network.serviceSubnet", "rollout.pausedNodes.*"];

/**
 * Reads the arguments of a cluster on the machines of a cloud.
 *
 * @param component class and name of the cloud's component, for messages
 */
export function readClusterArguments(component: string, cluster: ClusterOfCloudArgs) {
  const reader = new ArgumentReader(ClusterOfCloudFields, cluster, {
    component,
    root: ["cluster"],
    fixed: CLOUD_FIXED,
    rules: settingRules,
  });
  // with issues there may be no settings; the rules of the cloud are checked with what can be read
  const settings = reader.settings ?? readable(ClusterOfCloudFields, cluster);
  return { settings: settings as unknown as ClusterSettings, issues: reader.issues };
}

/** Returns the blocks of a cluster's network. */
export function blocksOf({ network }: ClusterSettings) {
  const { podSubnet, serviceSubnet } = network as Record<"podSubnet" | "serviceSubnet", string>;
  return { podSubnet, serviceSubnet };
}
