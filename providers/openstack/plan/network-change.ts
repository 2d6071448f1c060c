import type { NetworkKey } from "./pool";
import type { UnmetRequirement } from "./unmet-requirement";
import type { PodNetworkKind } from "../../kubeadm/plan/network-ports";

/** The networks of a cluster, as the state and the configuration have them. */
interface NetworkChange {
  wanted: NetworkKey;
  /** Of the machines that exist. */
  existing: readonly NetworkKey[];
  podNetwork: PodNetworkKind;
  /** Where Octavia's load balancer has its address, when there is one. */
  balancer?: NetworkKey;
}

const PROPERTY = "openstack.network";

/**
 * Why a cluster's machines can't move to another network, before anything is made there. While they move some lie in the
 * one and some in the other, with a router between.
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
