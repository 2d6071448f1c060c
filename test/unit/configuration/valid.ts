import type { ConfigurationReader } from "../../../stacks/schema";

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
    isSecret: (key) => /(sshPrivateKeys?|registryCredentials)$/.test(key),
  };
}
