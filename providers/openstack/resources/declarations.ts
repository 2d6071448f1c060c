import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, resourceClass, type DeepInput } from "../../../lib/pulumi/dynamic-resource";
import type { Machine } from "../../kubeadm/plan/cluster/machine";
import type { ClusterInputs, HostKeyInputs } from "../../kubeadm/resources/declarations";
import type { ChangedMetadata } from "../plan/lost-metadata";
import type { MarkedObject } from "../plan/leftovers";
import type { GivenProvider } from "../plan/provider-settings";
import type { CloudRef, DesiredCloud, RecordedObject, UnmetRequirement } from "../plan/cloud-facts";

/** `givenProvider`, `known`, `metadata`, `networkObjects`, `objects`, `serverIds` and `securityGroups` are used by check only and are absent in state. */
export interface CloudPlanInputs extends DesiredCloud, CloudRef {
  cluster: string;
  /** The provider that the program gave to the cluster, if any; fields that it does not set are unknown in a preview. */
  givenProvider?: GivenProvider;
  /** Unmet requirements that are known without the cloud. */
  refusals?: UnmetRequirement[];
  /** Changes of this run to the machines, one line each. */
  steps: string[];
  /** Changes of the remaining runs, one line each. */
  later: string[];
  /** Owner tag of the cluster's cloud objects; absent in a stack's first run, which generates it. */
  mark?: string;
  /** Ids of the cloud objects in the state. */
  known?: string[];
  /** Objects of Neutron in the state. */
  networkObjects?: RecordedObject[];
  /** Machine name → id of its server in the state. */
  serverIds?: Record<string, string>;
  /** What the servers in the state are to have as metadata. */
  metadata?: ChangedMetadata[];
  /** Whether the stack has an application credential of its own for the cluster. @default false */
  ownCredential?: boolean;
  /** Names of the cluster's security groups. */
  securityGroups?: string[];
  /** Set by check. */
  found?: FoundInCloud;
  /** Set by check: objects that an interrupted run created and did not record. */
  leftovers?: MarkedObject[];
  /** Set by check: metadata that someone removed or changed in the cloud, as it was. */
  restored?: ChangedMetadata[];
}

/** The ids of names in the configuration, and the cloud's endpoint. */
export interface FoundInCloud {
  /** Name or id in the configuration → id. */
  images: Record<string, string>;
  flavors: Record<string, string>;
  externalNetworkId?: string;
  authUrl: string;
  /** Absent if neither the configuration nor clouds.yaml has one. */
  region?: string;
}

/**
 * The cloud preflight and the machine plan of a run, checked before any change. The ids of names are known in every
 * preview that reaches the cloud. Deletes objects that an interrupted run created and did not record, so all other
 * resources of the cluster depend on it.
 */
export class CloudPlan extends DynamicResource<CloudPlanInputs> {
  declare readonly found: pulumi.Output<FoundInCloud>;

  /** Owner tag: distinguishes this stack's objects from those of another cluster with the same name. */
  declare readonly mark: pulumi.Output<string>;

  /** @param args plain values, so that a preview knows all of them; a program's own provider may know less */
  constructor(
    name: string,
    args: Omit<CloudPlanInputs, "found" | "leftovers" | "restored" | "givenProvider"> & {
      givenProvider?: DeepInput<GivenProvider>;
    },
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("openstack/CloudPlan", name, args, { outputs: ["found", "mark"] }, opts);
  }
}

export interface ServerHostKeyInputs extends HostKeyInputs, CloudRef {
  /** Id of the server, whose console is read. */
  server: string;
  /** Whether the console must show the key; absent in state of older releases. */
  requireConsole?: boolean;
}

/** The SSH host key of a server: read at first connection, compared with the console if available, then pinned. */
export class ServerHostKey extends resourceClass<
  ServerHostKeyInputs,
  ServerHostKeyInputs & {
    /** "ssh-ed25519 AAAA…" */
    hostKey: string;
    /** Whether the server's console showed the same key. */
    confirmed: boolean;
  }
>("openstack/ServerHostKey", { outputs: ["hostKey", "confirmed"] }) {}

export interface InitializedMarkInputs extends ClusterInputs, CloudRef {
  machines: Machine[];
  /** Machine name → id of its server. */
  servers: Record<string, string>;
  steps?: string[];
}

export interface InitializedMarkOutputs extends InitializedMarkInputs {
  /** Machine name → id of the server with the ready tag. */
  marked: Record<string, string>;
}

/**
 * The ready tag of every server, in its metadata. Foresail writes it after the machine's node agent has reported the
 * machine as ready over SSH, so machines need no cloud credential.
 */
export class InitializedMark extends resourceClass<InitializedMarkInputs, InitializedMarkOutputs>(
  "openstack/InitializedMark",
  { outputs: ["marked"] },
) {}
