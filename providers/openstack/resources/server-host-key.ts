import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { HostKeyInputs } from "../../kubeadm/resources/host-key";

export interface ServerHostKeyInputs extends HostKeyInputs {
  /** Id of the server, whose console is read. */
  server: string;
  cloud?: string;
  region?: string;
}

interface ServerHostKeyOutputs extends ServerHostKeyInputs {
  /** "ssh-ed25519 AAAA…" */
  hostKey: string;
  /** Whether the server's console showed the same key. */
  confirmed: boolean;
}

/** The SSH host key of a server: read at first connection, compared with the console if available, then pinned. */
export class ServerHostKey extends DynamicResource<ServerHostKeyOutputs> {
  declare readonly hostKey: pulumi.Output<string>;
  declare readonly confirmed: pulumi.Output<boolean>;

  constructor(name: string, args: ResourceArgs<ServerHostKeyInputs>, opts?: pulumi.CustomResourceOptions) {
    super("openstack/ServerHostKey", name, args, { outputs: ["hostKey", "confirmed"] }, opts);
  }
}
