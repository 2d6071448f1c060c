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

/** The SSH host key of a server: read at first contact, held against the server's console where the cloud shows it, then held. */
export class ServerHostKey extends DynamicResource {
  /** "ssh-ed25519 AAAA…" */
  declare readonly hostKey: pulumi.Output<string>;
  /** Whether the console showed it, too. */
  declare readonly confirmed: pulumi.Output<boolean>;

  constructor(name: string, args: ServerHostKeyArgs, opts?: pulumi.CustomResourceOptions) {
    super("openstack/ServerHostKey", name, { ...args }, ["hostKey", "confirmed"], opts);
  }
}
