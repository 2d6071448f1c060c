import { isObject } from "../../../../lib/json";

/** What a stack sets of etcd on the control planes, by whether a member that runs can follow a change. */
interface EtcdSettings {
  /** Arguments and environment variables that a member reads when it starts. */
  rolling: { extraArgs: unknown[]; extraEnvs: unknown[] };
  /** Everything else; arguments and variables by name. */
  fixed: unknown;
}

/**
 * Arguments by which a member finds its data, its peers and its certificates, and others find the member. A member that
 * gets another one does not come back, or is another member.
 */
const IDENTITY = [
  /^(name|data-dir|wal-dir|config-file)$/,
  /^(listen|advertise|initial|discovery|force-new-cluster|proxy)(-|$)/,
  /(^|-)(cert|key|ca|crl)-(file|auth|allowed)/,
  /^(peer-)?auto-tls$/,
];

/** etcd reads an argument from a variable, too: ETCD_DATA_DIR is data-dir. */
const argumentOf = (variable: string): string | undefined =>
  /^ETCD_(\w+)$/.exec(variable)?.[1]?.toLowerCase().replaceAll("_", "-");

const isIdentity = (argument = "") => IDENTITY.some((pattern) => pattern.test(argument));

/** Splits a list of {name, value} into the entries that can change, and the others by name; undefined for no such list. */
function split(list: unknown, isFixed: (name: string) => boolean) {
  if (!Array.isArray(list)) return undefined;
  const named = list.flatMap((entry: unknown) =>
    isObject(entry) && typeof entry["name"] === "string" ? [{ name: entry["name"], entry }] : [],
  );
  if (named.length < list.length) return undefined;
  return {
    rolling: named.filter(({ name }) => !isFixed(name)).map(({ entry }) => entry),
    fixed: Object.fromEntries(
      named.filter(({ name }) => isFixed(name)).map(({ name, entry }) => [name, entry]),
    ),
  };
}

/** Splits `etcd` of kubeadm's ClusterConfiguration. What is not of the expected form is fixed as it is. */
export function etcdSettings(etcd: unknown): EtcdSettings {
  const none = { extraArgs: [], extraEnvs: [] };
  if (etcd !== undefined && !isObject(etcd)) return { rolling: none, fixed: etcd };
  const { local = {}, ...others } = etcd ?? {};
  if (!isObject(local)) return { rolling: none, fixed: etcd };
  const { extraArgs = [], extraEnvs = [], ...own } = local;
  const args = split(extraArgs, isIdentity);
  const envs = split(extraEnvs, (name) => isIdentity(argumentOf(name)));
  return {
    rolling: { extraArgs: args?.rolling ?? [], extraEnvs: envs?.rolling ?? [] },
    fixed: {
      ...others,
      local: { ...own, extraArgs: args?.fixed ?? extraArgs, extraEnvs: envs?.fixed ?? extraEnvs },
    },
  };
}
