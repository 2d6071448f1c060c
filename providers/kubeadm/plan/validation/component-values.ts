import { isObject, ownValue } from "../../../../lib/json";
import { parseBoolean } from "../../../../lib/validation/boolean";
import { quoted } from "../../../../lib/text/quote";
import { nearest, unknownWord } from "../../../../lib/validation/spelling";
import {
  below,
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import { argumentsAt } from "../configuration/arguments";
import { PROFILE_ADMISSION } from "../hardening/profile";
import { parseDuration } from "./field-values";
import { fieldsOf, minorsWithGate } from "./known-fields";

/** Settings of a cluster whose values Kubernetes' programs check at their start. */
interface ComponentSettings {
  version?: string | undefined;
  adopt?: boolean | undefined;
  profile?: string | undefined;
  kubeadm?: object | undefined;
  kubelet?: unknown;
  kubeProxy?: unknown;
}

const API_SERVER = "clusterConfiguration.apiServer.extraArgs";
/** Lists of arguments, below `kubeadm`. */
const LISTS = [
  API_SERVER,
  "clusterConfiguration.controllerManager.extraArgs",
  "clusterConfiguration.scheduler.extraArgs",
  "initConfiguration.nodeRegistration.kubeletExtraArgs",
  "joinConfiguration.nodeRegistration.kubeletExtraArgs",
];
const TLS_VERSIONS = ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"];
const LATEST_TLS = "VersionTLS13";
/** HTTP/2 needs one of them below TLS 1.3; without one, a program ends when it begins to serve. */
const OF_HTTP2 = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"];
/** Values of locked feature gates, by their letters in the generated file. */
const LOCKED: Readonly<Record<string, boolean>> = { "1": true, "0": false };

/**
 * Returns why programs of a version refuse a feature gate, or undefined.
 *
 * @param value undefined if the program may emulate another version
 */
function gateIssue(name: string, value: boolean | undefined, version?: string): string | undefined {
  const { gates } = fieldsOf(version);
  const of = `Kubernetes${version === undefined ? "" : ` ${version}`}`;
  if (!Object.hasOwn(gates, name)) {
    const others = minorsWithGate(name);
    if (others !== undefined)
      return `${quoted(name)} is not a feature gate of ${of}, only of ${others}; remove it`;
    const meant = nearest(name, Object.keys(gates));
    return `${quoted(name)} is not a feature gate of ${of}; ${meant === undefined ? "remove it" : `did you mean ${quoted(meant)}?`}`;
  }
  const locked = version === undefined ? undefined : LOCKED[gates[name] ?? ""];
  if (locked === undefined || value === undefined || value === locked) return undefined;
  return `${quoted(name)} is locked to ${locked} in ${of}, whose programs do not start with ${value}; remove it`;
}

/** Returns the issues of "A=true,B=false". Gates of another component ("wardle:A=true") are not known here. */
function gateTextIssue(text: string, version: string | undefined, emulates: boolean): string | undefined {
  for (const pair of text.split(",")) {
    // a gate of another component of the program: "wardle:A=true"
    if (pair === "" || (pair.includes(":") && pair.includes("="))) continue;
    const [name = "", ...rest] = pair.split("=");
    const value = parseBoolean(rest.join("=").trim());
    if (value === undefined)
      return `${quoted(pair)} is not NAME=true or NAME=false; separate several by commas`;
    const issue = gateIssue(name.trim(), emulates ? undefined : value, version);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

/** Returns the issues of a map of gates; a value that is not a boolean has its own issue. */
const gateMapIssues = (gates: unknown, version: string | undefined): ValidationIssue[] =>
  Object.entries(isObject(gates) ? gates : {}).flatMap(([name, value]) =>
    typeof value === "boolean" ? issueAt([name], gateIssue(name, value, version)) : [],
  );

/** Returns the names of a list in an argument; undefined if it has quotation marks or lines, as CSV may. */
function namesIn(text: string): string[] | undefined {
  if (/["\r\n]/.test(text)) return undefined;
  return text === "" ? [] : text.split(",");
}

const unknownIn = (names: readonly string[], known: readonly string[]): string | undefined => {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  if (known.includes(unknown.trim())) return `${quoted(unknown)} has a space; write commas without spaces`;
  return `${quoted(unknown)} ${unknownWord(unknown, known)}`;
};

/** Returns the issue of a program's cipher suites. @param isHttp1 whether it serves no HTTP/2, or TLS 1.3 alone */
function suitesIssue(names: readonly string[], isHttp1: boolean): string | undefined {
  const unknown = unknownIn(names, fieldsOf().cipherSuites);
  if (unknown !== undefined || names.length === 0 || isHttp1) return unknown;
  if (OF_HTTP2.some((name) => names.includes(name))) return undefined;
  return `has no suite that HTTP/2 needs; add ${OF_HTTP2.join(" or ")}`;
}

const tlsIssue = (text: string): string | undefined =>
  text === "" || TLS_VERSIONS.includes(text)
    ? undefined
    : `${quoted(text)} ${unknownWord(text, TLS_VERSIONS)}`;

/** A whole number as Go's flags read it: also "0x10", "0x_10", "0b1", "0o7" and "1_000". */
const INTEGER = /^[+-]?(0x(_?[\da-f])+|0b(_?[01])+|0o(_?[0-7])+|0(_?[0-7])*|[1-9](_?\d)*)$/i;

/** What the programs do not start without, by the kind of an argument. */
const VALUE_KINDS = {
  boolean: [(text: string) => parseBoolean(text) !== undefined, 'neither "true" nor "false"'],
  duration: [
    (text: string) => parseDuration(text) !== undefined,
    'not a duration; write e.g. "90s" or "1m30s"',
  ],
  integer: [(text: string) => INTEGER.test(text), "not a whole number"],
} as const;

/** Returns the issue of a value whose program ends at its start, since its argument is of another kind. */
function kindIssue(name: string, text: string, version: string | undefined): string | undefined {
  // the rules of the pods' blocks say more
  if (name.startsWith("node-cidr-mask-size")) return undefined;
  const { flagValues } = fieldsOf(version);
  for (const kind of ["boolean", "duration", "integer"] as const) {
    const [accepts, words] = VALUE_KINDS[kind];
    if (flagValues[kind].includes(name)) return accepts(text) ? undefined : `${quoted(text)} is ${words}`;
  }
  return undefined;
}

/** Returns the issues of one list of arguments. A program takes the last of several, except where it takes them together. */
function listIssues(
  list: ReturnType<typeof argumentsAt>,
  place: string,
  settings: ComponentSettings,
): ValidationIssue[] {
  const { version, adopt = false, kubelet } = settings;
  const has = (wanted: string) => list.some(({ name }) => name === wanted);
  // an adopted cluster may have more arguments
  const emulates = adopt || has("emulated-version");
  const isHttp1 =
    adopt ||
    list.filter(({ name }) => name === "tls-cipher-suites").length > 1 ||
    list.some(({ name, value }) => name === "tls-min-version" && value === LATEST_TLS) ||
    has("disable-http2-serving") ||
    (place.endsWith("kubeletExtraArgs") && servesHttp1(kubelet));
  const rules: Record<string, (text: string) => string | undefined> = {
    "feature-gates": (text) => gateTextIssue(text, version, emulates),
    "tls-min-version": tlsIssue,
    "tls-cipher-suites": (text) => suitesIssue(namesIn(text) ?? [], isHttp1),
  };
  return list.flatMap(({ name, value }, index) =>
    issueAt(
      ["kubeadm", ...place.split("."), index, "value"],
      value === undefined ? undefined : (ownValue(rules, name)?.(value) ?? kindIssue(name, value, version)),
    ),
  );
}

/** What kubeadm enables unless the user writes the argument. */
const ENABLED = "NodeRestriction";

/** Returns the issues of the API server's admission plugins: unknown ones, and those that are both enabled and disabled. */
function pluginIssues(
  { kubeadm, version, adopt, profile }: ComponentSettings,
  path: ConfigurationPath,
): ValidationIssue[] {
  const known = fieldsOf(version).plugins;
  const list = argumentsAt(kubeadm, API_SERVER).map(({ name, value }, index) => ({
    name,
    index,
    names: namesIn(value ?? "") ?? [],
  }));
  const enabled = list.filter(({ name }) => name === "enable-admission-plugins");
  const byDefault = profile === undefined ? ENABLED : PROFILE_ADMISSION.value;
  // an adopted cluster's manifests may have others
  const isDefault = enabled.length === 0 && adopt !== true;
  const all = isDefault ? byDefault.split(",") : enabled.flatMap(({ names }) => names);
  return list.flatMap(({ name, index, names }) => {
    if (!/^((en|dis)able-admission-plugins|admission-control)$/.test(name)) return [];
    const unknown = unknownIn(names, known);
    const both = name.startsWith("disable") ? names.find((one) => all.includes(one)) : undefined;
    const issue =
      both && `${quoted(both)} is enabled, too, and the API server does not start with both; remove one`;
    return issueAt([...path, index, "value"], unknown ?? issue);
  });
}

/** Tells whether a kubelet with these fields serves no HTTP/2 below TLS 1.3. */
const servesHttp1 = (kubelet: unknown): boolean =>
  isObject(kubelet) && (kubelet["tlsMinVersion"] === LATEST_TLS || kubelet["enableServer"] === false);

/** Returns the issues of a kubelet's fields that have the same meaning as arguments. */
function kubeletIssues({ kubelet, kubeadm, version, adopt = false }: ComponentSettings): ValidationIssue[] {
  if (!isObject(kubelet)) return [];
  const { featureGates, tlsCipherSuites: suites, tlsMinVersion: least } = kubelet;
  const names = Array.isArray(suites) ? suites.filter((one) => typeof one === "string") : [];
  const hasArguments = LISTS.filter((place) => place.endsWith("kubeletExtraArgs")).some((place) =>
    argumentsAt(kubeadm, place).some(({ name }) => name.startsWith("tls-")),
  );
  return [
    ...below(["featureGates"], gateMapIssues(featureGates, version)),
    ...issueAt(["tlsCipherSuites"], suitesIssue(names, adopt || hasArguments || servesHttp1(kubelet))),
    ...issueAt(["tlsMinVersion"], typeof least === "string" ? tlsIssue(least) : undefined),
  ];
}

/**
 * Returns the issues of feature gates, cipher suites, TLS versions and admission plugins with which a program of the
 * cluster's version does not start; paths are relative to the cluster.
 */
export function componentValueIssues(settings: ComponentSettings): ValidationIssue[] {
  const { version, kubeadm, kubeProxy } = settings;
  const ofKubeadm = valueAt(kubeadm, ["clusterConfiguration", "featureGates"]);
  const { kubeadmGates } = fieldsOf(version);
  return [
    ...LISTS.flatMap((place) => listIssues(argumentsAt(kubeadm, place), place, settings)),
    ...pluginIssues(settings, ["kubeadm", ...API_SERVER.split(".")]),
    ...below(["kubelet"], kubeletIssues(settings)),
    ...(isObject(kubeProxy)
      ? below(["kubeProxy", "featureGates"], gateMapIssues(kubeProxy["featureGates"], version))
      : []),
    ...Object.keys(isObject(ofKubeadm) ? ofKubeadm : {}).flatMap((name) =>
      issueAt(
        ["kubeadm", "clusterConfiguration", "featureGates", name],
        kubeadmGates.includes(name) ? undefined : unknownWord(name, kubeadmGates),
      ),
    ),
  ];
}
