import { ownValue } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { ipVersion } from "../../../../lib/validation/addresses";
import { unknownWord } from "../../../../lib/validation/spelling";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { argumentsAt } from "../configuration/arguments";
import { parseVersion } from "../rollout/versions";
import { controllersIssue } from "./controller-manager";

const API_SERVER = "clusterConfiguration.apiServer.extraArgs";
const ETCD = "clusterConfiguration.etcd.local.extraArgs";

type Rule = (text: string, version?: string) => string | undefined;

const AUTHORIZERS = ["AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"];

const oneOf =
  (words: readonly string[]): Rule =>
  (text) =>
    words.includes(text) ? undefined : `${quoted(text)} ${unknownWord(text, words)}`;

const wholeNumber =
  (what = "a whole number"): Rule =>
  (text) =>
    /^(\d+|0[xob][\da-fA-F_]+)$/.test(text) ? undefined : `${quoted(text)} is not ${what}`;

const MINUS = /^-(?=\d)/;

/** A whole number whose negative values are the program's way to say "no limit" or "nothing". */
const signed =
  (what: string): Rule =>
  (text) =>
    wholeNumber(what)(text.replace(MINUS, ""));

const address: Rule = (text) =>
  ipVersion(text) === 0 ? `${quoted(text)} is not an address; write e.g. "127.0.0.1"` : undefined;

function authorizationIssue(text: string): string | undefined {
  const modes = text.split(",");
  const unknown = modes.find((mode) => !AUTHORIZERS.includes(mode));
  if (unknown !== undefined) return `${quoted(unknown)} ${unknownWord(unknown, AUTHORIZERS)}`;
  return modes.some((mode) => ["Node", "AlwaysAllow", "ABAC", "Webhook"].includes(mode))
    ? undefined
    : `${quoted(text)} is without Node, so that no kubelet could register; write "Node,${text}"`;
}

function portRangeIssue(text: string): string | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text.trim()) ?? [];
  // "30000+100" is a form of its own
  if (/^\d{1,5}\+\d{1,5}$/.test(text.trim())) return undefined;
  const [from, to] = [Number(first), Number(last)];
  return first !== undefined && from <= to && to <= 65_535
    ? undefined
    : `${quoted(text)} is not a range of ports; write e.g. "30000-32767"`;
}

const chance: Rule = (text) =>
  text.trim() !== "" && Number(text) >= 0 && Number(text) <= 0.02
    ? undefined
    : `${quoted(text)} is not from "0" to "0.02"`;

const httpsUrl: Rule = (text) =>
  URL.canParse(text) && new URL(text).protocol === "https:"
    ? undefined
    : `${quoted(text)} is not an https URL, which the API server demands; write e.g. "https://login.example.com"`;

const cacheSizes: Rule = (text) => {
  const wrong = text.split(",").find((each) => each !== "" && !/^[^#]+#\d+$/.test(each));
  return wrong === undefined ? undefined : `${quoted(wrong)} is not RESOURCE#SIZE; write e.g. "pods#100"`;
};

/** Last minor whose kubelet ends at a cloud that it does not know; newer ones read nothing but "external". */
const LAST_WITH_CLOUDS = 33;

const cloudProvider: Rule = (text, version = "") => {
  const isRead = (parseVersion(version)?.minor ?? Infinity) <= LAST_WITH_CLOUDS;
  return isRead && text !== "" && text !== "external"
    ? `${quoted(text)} is a cloud that no kubelet has; write "external", and install the cloud's controller`
    : undefined;
};

/** What the programs do not start without, by the place of their lists and the name of the argument. */
const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  [API_SERVER]: {
    "authorization-mode": authorizationIssue,
    "service-node-port-range": portRangeIssue,
    "goaway-chance": chance,
    "max-requests-inflight": wholeNumber(),
    "max-mutating-requests-inflight": wholeNumber(),
    "oidc-issuer-url": httpsUrl,
    "watch-cache-sizes": cacheSizes,
    "storage-backend": oneOf(["etcd3"]),
  },
  "clusterConfiguration.controllerManager.extraArgs": {
    "bind-address": address,
    controllers: controllersIssue,
  },
  "clusterConfiguration.scheduler.extraArgs": { "bind-address": address },
  [ETCD]: {
    "auto-compaction-mode": oneOf(["periodic", "revision"]),
    "heartbeat-interval": wholeNumber("a number of milliseconds without a unit"),
    "election-timeout": wholeNumber("a number of milliseconds without a unit"),
    "quota-backend-bytes": signed("a number of bytes without a unit"),
    "snapshot-count": wholeNumber(),
    "max-snapshots": wholeNumber(),
    "max-wals": wholeNumber(),
    "max-txn-ops": wholeNumber(),
    "max-request-bytes": wholeNumber("a number of bytes without a unit"),
  },
  "initConfiguration.nodeRegistration.kubeletExtraArgs": { "cloud-provider": cloudProvider },
  "joinConfiguration.nodeRegistration.kubeletExtraArgs": { "cloud-provider": cloudProvider },
};

/** Of etcd, in milliseconds. */
const HEARTBEAT = 100;
const ELECTION = 1000;

function timingIssues(kubeadm: object | undefined): ValidationIssue[] {
  const list = argumentsAt(kubeadm, ETCD);
  const number = (wanted: string, fallback: number) => {
    const text = list.findLast(({ name }) => name === wanted)?.value ?? String(fallback);
    return /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const [heartbeat, election] = [
    number("heartbeat-interval", HEARTBEAT),
    number("election-timeout", ELECTION),
  ];
  if (heartbeat === undefined || election === undefined || election >= 5 * heartbeat) return [];
  const index = list.findLastIndex(({ name }) => ["heartbeat-interval", "election-timeout"].includes(name));
  return issueAt(
    ["kubeadm", ...ETCD.split("."), index, "value"],
    `election-timeout ${election} must be 5 times heartbeat-interval ${heartbeat} or more, or etcd does not start`,
  );
}

/** Returns the issue of an issuer without a client, or the other way round. */
function issuerIssues(kubeadm: object | undefined): ValidationIssue[] {
  const list = argumentsAt(kubeadm, API_SERVER);
  const pair = ["oidc-issuer-url", "oidc-client-id"];
  const written = pair.filter((name) => list.some((one) => one.name === name));
  const [one] = written;
  if (one === undefined || written.length === pair.length) return [];
  const index = list.findIndex(({ name }) => name === one);
  const other = pair.find((name) => name !== one) ?? "";
  return issueAt(
    ["kubeadm", ...API_SERVER.split("."), index, "name"],
    `${quoted(one)} needs ${quoted(other)}, too, or the API server does not start; add it`,
  );
}

/**
 * Returns the issues of arguments whose form or range a program refuses at its start, beside the kinds of
 * component-values.ts. Paths are relative to the cluster.
 */
export function argumentFormIssues({
  kubeadm,
  version,
}: {
  kubeadm?: object | undefined;
  version?: string | undefined;
}): ValidationIssue[] {
  const ofLists = Object.entries(RULES).flatMap(([place, rules]) =>
    argumentsAt(kubeadm, place).flatMap(({ name, value }, index) => {
      if (value === undefined) return [];
      const rule = ownValue(rules, name) ?? (name === "v" ? signed("a whole number") : undefined);
      return issueAt(["kubeadm", ...place.split("."), index, "value"], rule?.(value, version));
    }),
  );
  return [...ofLists, ...timingIssues(kubeadm), ...issuerIssues(kubeadm)];
}
