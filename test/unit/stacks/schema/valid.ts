import type { ConfigurationReader } from "../../../../stacks/schema";

/** A public host key for the tests. */
export const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

type Fields = Record<string, unknown>;

/** The smallest valid cluster, with some fields replaced. */
export function cluster(fields: Fields = {}): Fields {
  return { name: "test", version: "1.36.3", machines: [controlPlane(), worker()], ...fields };
}

/** A control plane at 192.0.2.11, with some fields replaced. */
export const controlPlane = (fields: Fields = {}): Fields => ({
  name: "cp-1",
  address: "192.0.2.11",
  role: "control-plane",
  ...fields,
});

/** A worker at 192.0.2.21, with some fields replaced. */
export const worker = (fields: Fields = {}): Fields => ({
  name: "w-1",
  address: "192.0.2.21",
  role: "worker",
  ...fields,
});

/** A stack `dev` whose secret keys are encrypted. */
export function reader(value: unknown, others: Record<string, string> = {}): ConfigurationReader {
  return {
    project: "foresail",
    stack: "dev",
    values: { "foresail:cluster": JSON.stringify(value), ...others },
    isSecret: (key) => /(sshPrivateKeys?|[cC]redentials?)$/.test(key),
  };
}

/** The smallest valid section of the system openstack. */
export const OPENSTACK = {
  network: { externalNetwork: "public" },
  keypair: { publicKey: HOST_KEY },
  pools: [
    { name: "cp", role: "control-plane", replicas: 1, flavor: "m", image: "ubuntu" },
    { name: "w", role: "worker", replicas: 2, flavor: "m", image: "ubuntu" },
  ],
  access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
};

/** The smallest valid section of the system tumblebug. */
export const TUMBLEBUG = {
  address: "http://127.0.0.1:1323/tumblebug",
  namespace: "ns1",
  connections: [{ name: "aws" }],
  groups: [
    { name: "cp", role: "control-plane", connection: "aws", replicas: 1, spec: "t3.medium", image: "ami-1" },
    { name: "w", role: "worker", connection: "aws", replicas: 2, spec: "t3.medium", image: "ami-1" },
  ],
  access: { ssh: ["192.0.2.0/24"], api: ["192.0.2.0/24"] },
};

/** A stack whose machines come from a section of its system. */
export function cloudReader(
  system: "openstack" | "tumblebug",
  section: unknown,
  fields: Fields = {},
  others: Record<string, string> = {},
): ConfigurationReader {
  return reader(
    { name: "test", version: "1.36.3", ...fields },
    {
      "foresail:system": system,
      ...(section === undefined ? {} : { [`foresail:${system}`]: JSON.stringify(section) }),
      ...others,
    },
  );
}
