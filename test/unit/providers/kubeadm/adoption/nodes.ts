import type { AdoptableNode } from "../../../../../providers/kubeadm/plan/adoption/adoption-facts";
import { exampleMachine } from "../machine/examples";

/** A Node of a cluster to adopt, named like "cp-1" or "w-1". */
export const adoptableNode = (name: string, fields: Partial<AdoptableNode> = {}): AdoptableNode => ({
  name,
  machineId: `id-of-${name}`,
  internalAddress: exampleMachine(name).internalAddress,
  controlPlane: name.startsWith("cp"),
  roles: [],
  version: "1.35.4",
  runtime: "containerd://1.7.2",
  ...fields,
});
