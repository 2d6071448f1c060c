import type { NetworkKey } from "./machine";
import type { UnmetRequirement } from "./unmet-requirement";
import type { PodNetworkKind } from "../../kubeadm/plan/network-ports";

/** The networks of a cluster, in the state and in the configuration. */
interface NetworkChange {
  wanted: NetworkKey;
  /** Networks of the existing machines. */
  existing: readonly NetworkKey[];
  podNetwork: PodNetworkKind;
  /** Network of the address of Octavia's load balancer, if there is one. */
  balancer?: NetworkKey;
}

const PROPERTY = "openstack.network";

/**
 * Returns why a cluster's machines can't move to another network. During the move, some machines are in the old network
 * and some in the new one, with a router in between.
 */
export function networkChangeRefusals({
  wanted,
  existing,
  podNetwork,
  balancer,
}: NetworkChange): UnmetRequirement[] {
  const other = existing.find((network) => network !== wanted);
  const refusals: UnmetRequirement[] = [];
  const refuse = (why: string) =>
    refusals.push({ property: PROPERTY, reason: `${why}; write that network again, or make a new cluster` });
  if (other !== undefined && podNetwork === "bridge")
    refuse(
      `the built-in pod network leads to machines of one network alone, and this cluster's lie in ${other}`,
    );
  if (balancer !== undefined && balancer !== wanted)
    refuse(
      `Octavia's load balancer has its address in ${balancer}, and every certificate and kubelet of this cluster holds that address`,
    );
  return refusals;
}
