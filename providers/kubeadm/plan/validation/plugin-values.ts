import { isObject, ownValue } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { unknownWord } from "../../../../lib/validation/spelling";
import {
  below,
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";

/** What a value of a chart may be: one of some texts, a whole number of at least so much, or a boolean. */
type Allowed = readonly string[] | { readonly least: number } | "boolean" | "switch";

const STATES = ["Enabled", "Disabled"];

/** Values of the charts' own fields, by the plugin and their path; "*" is each item of a list. */
const VALUES: Readonly<Record<string, Readonly<Record<string, Allowed>>>> = {
  cilium: {
    kubeProxyReplacement: "switch",
    routingMode: ["", "native", "tunnel"],
    tunnelProtocol: ["", "vxlan", "geneve"],
    "encryption.enabled": "boolean",
    "encryption.type": ["ipsec", "wireguard", "ztunnel"],
    "operator.replicas": { least: 1 },
    MTU: { least: 0 },
    k8sServicePort: { least: 1 },
    "hubble.enabled": "boolean",
    "ipv4.enabled": "boolean",
    "ipv6.enabled": "boolean",
    "bpf.masquerade": "boolean",
  },
  flannel: {
    "flannel.backend": [
      ...["vxlan", "host-gw", "wireguard", "udp", "ipip", "ipsec", "alloc", "none"],
      ...["ali-vpc", "aws-vpc", "gce", "tencent-vpc", "extension"],
    ],
    "flannel.mtu": { least: 0 },
  },
  calico: {
    "installation.calicoNetwork.bgp": STATES,
    "installation.calicoNetwork.linuxDataplane": ["Iptables", "BPF", "VPP", "Nftables"],
    "installation.calicoNetwork.mtu": { least: 0 },
    "installation.calicoNetwork.ipPools.*.encapsulation": [
      ...["IPIPCrossSubnet", "IPIP", "VXLAN", "VXLANCrossSubnet", "None"],
    ],
    "installation.calicoNetwork.ipPools.*.natOutgoing": STATES,
  },
};

function allowedIssue(value: unknown, allowed: Allowed): string | undefined {
  const shown = typeof value === "string" ? quoted(value) : JSON.stringify(value);
  if (allowed === "boolean")
    return typeof value === "boolean" ? undefined : `${shown} is neither true nor false`;
  if (allowed === "switch")
    return typeof value === "boolean" || value === "true" || value === "false"
      ? undefined
      : `${shown} is neither true nor false`;
  if (!("least" in allowed))
    return typeof value === "string" && allowed.includes(value)
      ? undefined
      : `${shown} ${unknownWord(String(value), allowed.filter(Boolean))}`;
  // a port or an MTU may be in quotes, or left to the chart: it is printed as it is
  if (value === "") return undefined;
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= allowed.least
    ? undefined
    : `${shown} is not a whole number of ${allowed.least} or more`;
}

function tableIssues(
  table: Readonly<Record<string, Allowed>>,
  value: unknown,
  path: ConfigurationPath = [],
): ValidationIssue[] {
  const field = path.map((part) => (typeof part === "number" ? "*" : part)).join(".");
  const allowed = ownValue(table, field);
  // null removes the chart's own value
  if (allowed !== undefined && value !== null) return issueAt(path, allowedIssue(value, allowed));
  const isOnTheWay = path.length === 0 || Object.keys(table).some((each) => each.startsWith(`${field}.`));
  if (!isOnTheWay) return [];
  if (Array.isArray(value))
    return value.flatMap((one: unknown, index) => tableIssues(table, one, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => tableIssues(table, one, [...path, key]));
}

const CILIUM_MODES = [
  ...["kubernetes", "cluster-pool", "multi-pool", "crd", "delegated-plugin"],
  ...["eni", "azure", "alibabacloud"],
];

/** IPIP routes are distributed by BGP. */
function calicoPairs(values: object): ValidationIssue[] {
  const at = ["installation", "calicoNetwork"];
  if (valueAt(values, [...at, "bgp"]) !== "Disabled") return [];
  const pools = valueAt(values, [...at, "ipPools"]);
  return (Array.isArray(pools) ? (pools as unknown[]) : []).flatMap((pool, index) =>
    issueAt(
      [...at, "ipPools", index, "encapsulation"],
      /^IPIP/.test(String(valueAt(pool, ["encapsulation"])))
        ? "needs BGP, and calicoNetwork.bgp is Disabled; write VXLAN, or enable BGP"
        : undefined,
    ),
  );
}

/** The mode of addresses. A mode that is not a text has a rule of its own. */
function ciliumPairs(values: object): ValidationIssue[] {
  const mode = valueAt(values, ["ipam", "mode"]);
  return typeof mode === "string" && mode !== "" && !CILIUM_MODES.includes(mode)
    ? issueAt(["ipam", "mode"], `${quoted(mode)} ${unknownWord(mode, CILIUM_MODES)}`)
    : [];
}

/**
 * Returns the issues of values with which the chart of a plugin is not installed, or its pods do not start. Charts of a
 * version that was chosen may have other words. Paths are relative to `network.plugin`.
 *
 * @param plugin as it is written
 */
export function pluginValueIssues(plugin: object = {}): ValidationIssue[] {
  return Object.entries(plugin).flatMap(([name, one]) => {
    const { values, version } = isObject(one) ? one : {};
    if (!isObject(values) || version !== undefined) return [];
    const pairs = name === "cilium" ? ciliumPairs(values) : name === "calico" ? calicoPairs(values) : [];
    return below([name, "values"], [...tableIssues(ownValue(VALUES, name) ?? {}, values), ...pairs]);
  });
}
