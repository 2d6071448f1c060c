import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";

export interface ServerHostKeyArgs {
  machine: pulumi.Input<string>;
  /** Id of the server, whose console is read. */
  server: pulumi.Input<string>;
  cloud?: string;
  region?: string;
  address: pulumi.Input<string>;
  port: pulumi.Input<number>;
  jumpHost?: pulumi.Input<pulumi.Inputs>;
  credentials: pulumi.Input<pulumi.Inputs>;
  timeoutSeconds: pulumi.Input<number>;
}

/** The SSH host key of a server: read at first connection, compared with the console if available, then pinned. */
export class ServerHostKey extends DynamicResource {
  /** "ssh-ed25519 AAAA…" */
  declare readonly hostKey: pulumi.Output<string>;
  /** Whether the server's console showed the same key. */
  declare readonly confirmed: pulumi.Output<boolean>;

  constructor(name: string, args: ServerHostKeyArgs, opts?: pulumi.CustomResourceOptions) {
    super("openstack/ServerHostKey", name, { ...args }, ["hostKey", "confirmed"], opts);
  }
}
