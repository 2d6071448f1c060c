import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { JumpHost, SshCredentials } from "./inputs";

export interface HostKeyInputs {
  /** Name of the machine. */
  machine: string;
  address: string;
  port: number;
  jumpHost?: JumpHost;
  credentials: SshCredentials;
  timeoutSeconds: number;
}

interface HostKeyOutputs extends HostKeyInputs {
  /** "ssh-ed25519 AAAA…" */
  hostKey: string;
}

/** The SSH host key of a machine without a configured one: read at first contact, then pinned. */
export class HostKey extends DynamicResource<HostKeyOutputs> {
  declare readonly hostKey: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<HostKeyInputs>, opts?: pulumi.CustomResourceOptions) {
    super("kubeadm/HostKey", name, args, { outputs: ["hostKey"] }, opts);
  }
}
