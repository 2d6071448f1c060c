import { CLOUD_NAMES } from "../openstack/seed";
import type { Size } from "./cluster-size";
import { KUBERNETES_VERSION } from "./ssh-configuration";

/** What exists before `pulumi up`: the running cloud. */
export interface OpenstackFixture {
  readonly size: Size;
  /** The machines' CIDR, a /24 that this machine reaches through its first address. */
  readonly cidr: string;
  /** The private key for every machine, in OpenSSH's format. */
  readonly key: { readonly private: string; readonly public: string };
}

/** Returns the values of `foresail:cluster` and `foresail:openstack` for the sandbox's cloud. */
export function openstackConfiguration(
  { size, cidr, key }: OpenstackFixture,
  settings: Readonly<Record<string, unknown>>,
): { cluster: Record<string, unknown>; openstack: Record<string, unknown> } {
  const operator = [cidr.replace(/\.0\/24$/, ".1/32")];
  const machine = { flavor: CLOUD_NAMES.flavor, image: CLOUD_NAMES.image };
  return {
    cluster: {
      name: "sandbox",
      version: KUBERNETES_VERSION,
      source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
      ssh: { user: "foresail" },
      ...settings,
      network: { plugin: { bridge: {} }, ...(settings["network"] as object | undefined) },
    },
    openstack: {
      cloud: CLOUD_NAMES.cloud,
      network: { cidr, externalNetwork: CLOUD_NAMES.publicNetwork },
      keypair: { publicKey: key.public.trim() },
      access: { ssh: operator, api: operator },
      pools: [
        { name: "cp", role: "control-plane", replicas: size.controlPlanes, ...machine },
        { name: "w", role: "worker", replicas: size.workers, ...machine },
      ],
      // there are no load balancers or volumes here for it to create
      cloudProvider: { enabled: false },
    },
  };
}
