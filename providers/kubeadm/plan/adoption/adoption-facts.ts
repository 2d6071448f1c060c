import type { Owner } from "../../../../lib/ownership/owner";
import type { RewrittenObject } from "./lost-settings";
import type { Machine } from "../cluster/machine";

/** What a machine says about itself before it is adopted. */
export interface MemberFacts {
  /** Text of foresail's mark; empty without one. */
  marker: string;
  /** SHA-256 of the certificate authority that its kubelet trusts; empty on a machine that is not a member. */
  authority: string;
  machineId: string;
  addresses: string[];
  /** Distribution, its version and the processor: "debian 12 x86_64". */
  system: string;
  /** Path of the program that the kubelet's unit starts. */
  kubelet: string;
  controlPlane: boolean;
  /** Port at which its API server listens; absent on a worker. */
  apiServerPort?: string;
  /** File with the certificate authority of the clients of its API server; absent on a worker. */
  authorityFile?: string;
  /** Whether it has no key of the cluster's certificate authority; absent on a worker. */
  externalAuthority?: true;
}

/** A Node of the cluster, with the fields that identify its machine. */
export interface AdoptableNode {
  name: string;
  machineId: string;
  internalAddress: string;
  controlPlane: boolean;
  /** Names in its labels node-role.kubernetes.io/<name>. */
  roles: readonly string[];
  version: string;
  /** "containerd://1.7.2" */
  runtime: string;
  /** Socket of its container runtime, as kubeadm recorded it; absent where it is in the kubelet's configuration. */
  socket?: string;
}

/** What kubeadm stores in the cluster; undefined for an object that is not there. */
export interface KubeadmObjects {
  clusterConfiguration?: Readonly<Record<string, unknown>>;
  kubelet?: Readonly<Record<string, unknown>>;
  kubeProxy?: Readonly<Record<string, unknown>>;
}

export interface AdoptableCluster extends KubeadmObjects {
  /** The stack that the cluster records as its owner; absent for none. */
  owner?: Owner;
  nodes: readonly AdoptableNode[];
  /** Names of the pods in kube-system, from which its network plugin is recognized. */
  systemPods: readonly string[];
  /** Names of the static pods that kubeadm did not make, without their Nodes': kube-vip, haproxy. */
  staticPods: readonly string[];
}

/** A configured machine with what it said about itself. */
export interface InspectedMachine {
  machine: Pick<Machine, "name" | "role" | "internalAddress">;
  facts: MemberFacts;
}

/** A Node whose machine answered over SSH. */
export interface MatchedMachine {
  node: AdoptableNode;
  address: string;
  port: number;
  hostKey: string;
  facts: MemberFacts;
  /** What kubeadm writes again on it, or why that could not be read; absent where it was not asked. */
  rewritten?: { objects: readonly RewrittenObject[] } | { unread: string };
}
