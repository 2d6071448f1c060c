import { resourceClass } from "../../../lib/pulumi/dynamic-resource";
import type { Machine } from "../../kubeadm/plan/machine";
import type { ClusterInputs, HostKeyInputs } from "../../kubeadm/resources/declarations";
import type { CloudRef } from "../plan/requirements";

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
