import { isObject } from "../../../../lib/json";
import { listed, printable } from "../../../../lib/text/quote";
import {
  formatPath,
  issueAt,
  type ValidationIssue,
  valueAt,
} from "../../../../lib/validation/validation-issue";
import type { KubeadmObjects } from "./adoption-facts";
import { AUTHENTICATION_ARGUMENT, AUTHENTICATION_FILE } from "../hardening/authentication";
import { OWN_AUDIT, PROFILE_ADMISSION, PROFILE_AUDIT_ARGUMENTS, PROFILE_CIPHERS } from "../hardening/profile";
import type { ClusterSpecification } from "../cluster/specification";

const COMPONENTS = ["apiServer", "controllerManager", "scheduler"] as const;
type Component = (typeof COMPONENTS)[number];

/** Where the settings of a user are that replace those of a profile. */
const argumentsPath = (component: Component) =>
  formatPath(["kubeadm", "clusterConfiguration", component, "extraArgs"]);

interface Entry {
  name: string;
  value: unknown;
  mountPath: unknown;
}

/** Returns the entries of a list of one of kubeadm's components, as far as they are readable. */
function entriesOf(
  configuration: unknown,
  component: Component,
  field: "extraArgs" | "extraVolumes",
): Entry[] {
  const found = isObject(configuration) ? valueAt(configuration, [component, field]) : undefined;
  const list: unknown[] = Array.isArray(found) ? found : [];
  return list
    .filter(isObject)
    .flatMap(({ name, value, mountPath }) => (typeof name === "string" ? [{ name, value, mountPath }] : []));
}

/**
 * Returns why a profile or issuers of tokens can't be merged into an adopted cluster: its API server would not start with
 * both, or something would silently go that others configured. A setting that the stack has by itself is the user's to
 * decide, and replaces that of a profile.
 *
 * @param original kubeadm's objects from before foresail's first change
 */
export function derivedSettingIssues(
  specification: ClusterSpecification,
  original: KubeadmObjects,
): ValidationIssue[] {
  const { profile, authentication } = specification;
  if (profile === undefined && authentication === undefined) return [];
  const theirs = entriesOf(original.clusterConfiguration, "apiServer", "extraArgs");
  const ours = entriesOf(specification.kubeadm.clusterConfiguration, "apiServer", "extraArgs");
  return [
    ...authenticationIssues(specification, theirs, ours),
    ...(profile === undefined ? [] : profileIssues(specification, original, theirs, ours)),
    ...mountIssues(specification, original),
  ];
}

const namesOf = (entries: readonly Entry[]) =>
  listed([...new Set(entries.map(({ name }) => `--${printable(name)}`))]);

/** The API server refuses a configuration file beside arguments that say the same. */
function authenticationIssues(
  { authentication, files }: ClusterSpecification,
  theirs: readonly Entry[],
  ours: readonly Entry[],
): ValidationIssue[] {
  const isGiven = ours.some(
    ({ name, value }) => name === AUTHENTICATION_ARGUMENT && value === AUTHENTICATION_FILE,
  );
  if (!isGiven) return [];
  const text = files.find(({ path }) => path === AUTHENTICATION_FILE)?.content ?? "";
  const excluded = /"anonymous"/.test(text) ? /^(oidc-.*|anonymous-auth)$/ : /^oidc-/;
  const found = theirs.filter(
    ({ name, value }) =>
      excluded.test(name) || (name === AUTHENTICATION_ARGUMENT && value !== AUTHENTICATION_FILE),
  );
  if (found.length === 0) return [];
  const what = `the cluster's API servers have ${namesOf(found)} of their own, which exclude this`;
  return authentication
    ? issueAt(
        ["authentication"],
        `${what}; take them out of the ConfigMap kubeadm-config and the manifests first, and list their issuers here`,
      )
    : issueAt(
        ["profile"],
        `${what}; write them under ${argumentsPath("apiServer")}, and the profile leaves authentication as it is`,
      );
}

function profileIssues(
  { kubelet }: ClusterSpecification,
  original: KubeadmObjects,
  theirs: readonly Entry[],
  ours: readonly Entry[],
): ValidationIssue[] {
  const at = (message: string) => issueAt(["profile"], message);
  const isOfProfile = (argument: string, value: string) =>
    ours.some((one) => one.name === argument && one.value === value);
  const audit = theirs.filter(
    ({ name, value }) =>
      OWN_AUDIT.test(name) && PROFILE_AUDIT_ARGUMENTS.every((argument) => argument.value !== value),
  );
  const isAudited = PROFILE_AUDIT_ARGUMENTS.some(({ name, value }) => isOfProfile(name, value));
  const plugins = theirs
    .filter(({ name }) => name === PROFILE_ADMISSION.name)
    .flatMap(({ value }) => (typeof value === "string" ? value.split(",") : []))
    .filter((plugin) => !PROFILE_ADMISSION.value.split(",").includes(plugin));
  const ciphers = valueAt(original.kubelet ?? {}, ["tlsCipherSuites"]);
  const isMixed =
    Array.isArray(ciphers) &&
    JSON.stringify(kubelet.tlsCipherSuites) === JSON.stringify(PROFILE_CIPHERS) &&
    ciphers.some((cipher) => !(PROFILE_CIPHERS as readonly unknown[]).includes(cipher));
  return [
    ...(audit.length > 0 && isAudited
      ? at(
          `the cluster's API servers have an audit log of their own (${namesOf(audit)}); write these arguments under ${argumentsPath("apiServer")}, and the profile leaves it as it is`,
        )
      : []),
    ...(plugins.length > 0 && isOfProfile(PROFILE_ADMISSION.name, PROFILE_ADMISSION.value)
      ? at(
          `would turn off the admission plugins ${listed(plugins.map(printable))} of the cluster's API servers; write ${PROFILE_ADMISSION.name} with all of them under ${argumentsPath("apiServer")}`,
        )
      : []),
    ...(isMixed
      ? at(
          "the ConfigMap kubelet-config has other tlsCipherSuites, which would stay beside those of the profile; take them out there and on the machines first, or write them under kubelet.tlsCipherSuites",
        )
      : []),
  ];
}

/** A pod can't mount two volumes at one path. */
function mountIssues(specification: ClusterSpecification, original: KubeadmObjects): ValidationIssue[] {
  return COMPONENTS.flatMap((component) => {
    const theirs = entriesOf(original.clusterConfiguration, component, "extraVolumes");
    return entriesOf(specification.kubeadm.clusterConfiguration, component, "extraVolumes").flatMap(
      ({ name, mountPath }) => {
        const taken = theirs.find((one) => one.mountPath === mountPath && one.name !== name);
        return taken
          ? issueAt(
              ["kubeadm", "clusterConfiguration", component, "extraVolumes"],
              `${printable(String(mountPath))} is mounted by the cluster's own volume ${printable(taken.name)}, so ${printable(name)} can't be there; rename or remove that volume in the ConfigMap kubeadm-config first`,
            )
          : [];
      },
    );
  });
}
