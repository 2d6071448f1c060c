import { hostIssue } from "../../../../lib/validation/addresses";
import { certificateBundleIssue } from "../../../../lib/validation/keys";
import { dnsNameIssue, preflightIssue } from "../../../../lib/validation/names";
import { noProxyIssue, proxyUrlIssue, urlIssue } from "../../../../lib/validation/urls";
import {
  below,
  type ConfigurationPath,
  issueAt,
  issueLines,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";
import {
  type ClusterSpecification,
  type ProxyCredentials,
  type SoftwareSource,
  sourceOfVersion,
} from "../cluster/specification";
import { clusterWide, type MachineSpecification, poolsWithSettings, withPool } from "../cluster/pools";
import * as files from "./files";
import { podSubnetIssue, serviceSubnetIssue } from "./network";
import { registriesIssues, type RegistrySettings } from "./registries";
import * as sources from "./source";

/** Settings that reach the files of a machine, by their names in the configuration; unknown ones are absent. */
interface MachineSettings {
  source?: SoftwareSource;
  files?: readonly { path: string; content?: string; mode?: string; owner?: string }[];
  proxy?: { http?: string; https?: string; noProxy?: readonly string[]; credentials?: ProxyCredentials };
  registries?: RegistrySettings;
  imageRepository?: string;
  caBundle?: string;
  ignorePreflightErrors?: readonly string[];
  network?: { podSubnet?: string; serviceSubnet?: string; dnsDomain?: string };
  endpoint?: { external?: { host?: string } };
}

/** Returns the issue of a value by its rule; none for an absent value. */
export function valueIssue<T>(
  path: ConfigurationPath,
  value: T | undefined,
  rule: (value: T) => string | undefined,
): ValidationIssue[] {
  return value === undefined ? [] : issueAt(path, rule(value));
}

const each = <T>(path: ConfigurationPath, values: readonly T[], rule: (value: T) => string | undefined) =>
  values.flatMap((value, index) => valueIssue([...path, index], value, rule));

/** Returns the issues of everything that reaches units, haproxy, apt, containerd and kubeadm on a machine. */
function settingsIssues(settings: MachineSettings): ValidationIssue[] {
  const { source, files: extra = [], proxy, registries, network, endpoint } = settings;
  return [
    ...(source ? below(["source"], sourceIssues(source)) : []),
    ...extra.flatMap(({ path, content, mode, owner }, index) => [
      ...valueIssue(["files", index, "path"], path, files.hostFilePathIssue),
      ...valueIssue(["files", index, "content"], content, files.hostFileContentIssue),
      ...valueIssue(["files", index, "mode"], mode, files.fileModeIssue),
      ...valueIssue(["files", index, "owner"], owner || undefined, files.fileOwnerIssue),
    ]),
    ...below(["files"], files.hostFileListIssues(extra)),
    ...valueIssue(["proxy", "http"], proxy?.http, proxyUrlIssue),
    ...valueIssue(["proxy", "https"], proxy?.https, proxyUrlIssue),
    ...each(["proxy", "noProxy"], proxy?.noProxy ?? [], noProxyIssue),
    ...valueIssue(["proxy", "credentials"], proxy?.credentials, (credentials) =>
      proxyCredentialsIssue(credentials, proxy),
    ),
    ...below(["registries"], registriesIssues(registries ?? {})),
    ...valueIssue(["imageRepository"], settings.imageRepository || undefined, sources.imageRepositoryIssue),
    ...valueIssue(["caBundle"], settings.caBundle || undefined, certificateBundleIssue),
    ...each(["ignorePreflightErrors"], settings.ignorePreflightErrors ?? [], preflightIssue),
    ...valueIssue(["network", "podSubnet"], network?.podSubnet, podSubnetIssue),
    ...valueIssue(["network", "serviceSubnet"], network?.serviceSubnet, serviceSubnetIssue),
    ...valueIssue(["network", "dnsDomain"], network?.dnsDomain, dnsNameIssue),
    ...valueIssue(["endpoint", "external", "host"], endpoint?.external?.host, hostIssue),
  ];
}

/** Returns the issue of a proxy's credentials, or undefined. The message has none of them. */
export function proxyCredentialsIssue(
  { username, password }: ProxyCredentials,
  proxy: { http?: string; https?: string } | undefined,
): string | undefined {
  if (proxy?.http === undefined && proxy?.https === undefined)
    return "is for a proxy, and none is set; write its address to cluster.proxy.http or https, or remove these credentials";
  if (username === "" || password === "") return "has an empty user name or password; write both";
  if (/[\p{Cc}\p{Cs}]/u.test(username + password))
    return "contains a control character; write user name and password on one line";
  return username.includes(":")
    ? "has a user name with a colon, which no proxy can tell from the password; use another user"
    : undefined;
}

function sourceIssues(source: SoftwareSource): ValidationIssue[] {
  if ("packages" in source) {
    const { packages } = source;
    const issues = [
      ...valueIssue(["repository"], packages.repository, (text) => urlIssue(text, ["https"])),
      ...valueIssue(["keyFingerprint"], packages.keyFingerprint, sources.keyFingerprintIssue),
      ...sources.packagesIssues(packages),
    ];
    return below(["packages"], issues);
  }
  const { path, url, sha256 } = source.bundle as { path?: string; url?: string; sha256?: string };
  return below(
    ["bundle"],
    [
      ...sources.bundleIssues(source.bundle),
      ...valueIssue(["path"], path, (text) => files.absolutePathIssue(text) ?? sources.bundlePathIssue(text)),
      ...valueIssue(["url"], url, (text) => urlIssue(text) ?? sources.bundlePathIssue(text)),
      ...valueIssue(["sha256"], sha256, sources.sha256Issue),
    ],
  );
}

/** @throws Error with all issues, before any of them reaches a machine */
function refuse(what: string, issues: readonly ValidationIssue[]): void {
  if (issues.length > 0)
    throw new Error([`${what}; nothing was written:`, ...issueLines(issues)].join("\n  "));
}

/**
 * Checks again what is about to be written to machines. The specification may come from a program, a stack file or the
 * state.
 *
 * @throws Error with all issues
 */
export function assertSettings(specification: ClusterSpecification): void {
  assertMachineSettings(clusterWide(specification));
  for (const pool of poolsWithSettings(specification)) assertMachineSettings(withPool(specification, pool));
}

function assertMachineSettings(specification: MachineSpecification): void {
  const {
    network,
    endpoint,
    registryMirrors: mirrors,
    registryServers: servers = {},
    registryHosts: hosts = {},
    source,
    version,
  } = specification;
  const { podCidr: podSubnet, serviceCidr: serviceSubnet, dnsDomain } = network;
  const issues = settingsIssues({
    ...specification,
    source: sourceOfVersion(source, version),
    // a file of its own, in which no text has another meaning
    caBundle: undefined,
    registries: { mirrors, servers, hosts },
    network: { podSubnet, serviceSubnet, dnsDomain },
    endpoint: "external" in endpoint ? endpoint : undefined,
  });
  refuse(`the settings of the cluster ${specification.name} are not valid`, issues);
}

/** Checks names of a cluster and its machines, as scripts and files contain them. @throws Error */
export function assertNames(names: Readonly<Record<string, string>>): void {
  const issues = Object.entries(names).flatMap(([field, name]) => issueAt([field], dnsNameIssue(name)));
  refuse("a name is not valid", issues);
}

/** Checks the addresses of machines, which a cloud may have reported. @throws Error */
export function assertAddresses(machines: readonly { name: string; address: string | undefined }[]): void {
  const issues = machines.flatMap(({ name, address }) => [
    ...issueAt([name, "name"], dnsNameIssue(name)),
    // no address: `--target` leaves out the object that has it, and with it what would run this
    ...valueIssue([name, "address"], address, hostIssue),
  ]);
  refuse("an address of a machine is not valid", issues);
}

/** Checks the credentials of registries; the message names the registry only. @throws Error */
export function assertCredentials(
  credentials: Readonly<Record<string, { username: string; password: string }>>,
): void {
  const issues = Object.entries(credentials).flatMap(([host, { username, password }]) => [
    ...issueAt(["registries", "credentials", host], sources.registryHostIssue(host)),
    ...issueAt(
      ["registries", "credentials", host],
      /[\p{Cc}\p{Cs}]/u.test(username + password)
        ? "contains a control character; write user name and password on one line"
        : undefined,
    ),
  ]);
  refuse("credentials of a registry are not valid", issues);
}
