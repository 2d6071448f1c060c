import type { FoundMark } from "./machine-mark";

/** What a machine says about itself before anything is written on it. */
export interface MachineFacts {
  readonly mark: FoundMark;
  /** Whether it is a member of the cluster, and was not reset by hand since it joined; absent for false. */
  readonly member?: true;
  /** SHA-256 that is the same only for the same running machine; empty if it says too little. */
  readonly identity: string;
  /** Whether it was a member of the cluster when the stack adopted it; absent for false. */
  readonly adopted?: true;
  /** What its cluster was made with, if it is a control plane; absent for other machines. */
  readonly fixed?: FixedFacts;
  /** Whether it has begun to join as a control plane, and is not a member; absent for false. */
  readonly begunControlPlane?: true;
  /** How long ago its node agent began or repeated a change that has not ended; absent for none. */
  readonly changingSeconds?: number;
}

/** What is fixed since kubeadm init, as the programs of a control plane run with it; absent for what it does not say. */
export type FixedFacts = Readonly<
  Partial<Record<"podSubnet" | "serviceSubnet" | "dnsDomain" | "endpoint", string>>
>;

/** The facts of a machine, or why it could not be read. */
export type ReadFacts = MachineFacts | { readonly unread: string };
