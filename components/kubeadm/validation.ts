import * as pulumi from "@pulumi/pulumi";
import { printable } from "../../lib/text/quote";
import { dnsLabelIssue, poolNameIssue } from "../../lib/validation/names";
import { apiPortIssue, loopbackPortIssue, SSH_PORT } from "../../lib/validation/ports";
import { noProxyIssue, proxyUrlIssue, urlIssue } from "../../lib/validation/urls";
import { below, formatPath, issueAt, issueCount, issueLines } from "../../lib/validation/validation-issue";
import type { ConfigurationPath, ValidationIssue } from "../../lib/validation/validation-issue";
import { DEFAULT_LOOPBACK, networkOf } from "../../providers/kubeadm/plan/defaults";
import * as files from "../../providers/kubeadm/plan/validation/files";
import { clusterIssues } from "../../providers/kubeadm/plan/validation/machines";
import * as blocks from "../../providers/kubeadm/plan/validation/network";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { softwareVersionIssue } from "../../providers/kubeadm/plan/validation/rollout";
import {
  keyFingerprintIssue,
  kubernetesVersionIssue,
  packagesIssues,
} from "../../providers/kubeadm/plan/validation/source";
import { networkPlugin } from "./defaults";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** Returns an argument's plain value, or undefined for an Output, which the machine itself checks once it is known. */
function plain<T>(value: pulumi.Input<T> | undefined): T | undefined {
  return pulumi.Output.isInstance(value) || value instanceof Promise ? undefined : value;
}

/** Returns the issue of a value by its rule; none for an absent value. */
function check<T>(
  path: ConfigurationPath,
  value: T | undefined,
  rule: (value: T) => string | undefined,
): ValidationIssue[] {
  return value === undefined ? [] : issueAt(path, rule(value));
}

/** Validates what is merged into Kubernetes objects, and values of a preset that replace foresail's own. */
function passedThroughIssues({
  kubeadm,
  kubelet,
  kubeProxy,
  network,
}: KubeadmClusterArgs): ValidationIssue[] {
  const plugin = networkPlugin({ network });
  const cilium = "cilium" in plugin ? plugin.cilium.values : undefined;
  const objects = { ...kubeadm, kubelet, kubeProxy };
  return [
    ...Object.entries(PASS_THROUGH).flatMap(([name, kind]) => {
      const path = name.endsWith("Configuration") ? ["kubeadm", name] : [name];
      return below(path, passThroughIssues(kind, objects[name as keyof typeof PASS_THROUGH] ?? {}));
    }),
    ...below(["network", "plugin", "cilium", "values"], blocks.ciliumValuesIssues(cilium ?? {})),
  ];
}

/** Validates where Kubernetes comes from. */
function sourceIssues({ source }: KubeadmClusterArgs): ValidationIssue[] {
  if (source === undefined || !("packages" in source)) return [];
  const { packages } = source;
  const path = ["source", "packages"];
  return [
    ...check([...path, "repository"], packages.repository, (url) => urlIssue(url, ["https"])),
    ...check([...path, "keyFingerprint"], packages.keyFingerprint, keyFingerprintIssue),
    ...below(path, packagesIssues(packages)),
  ];
}

/** Validates what is written to each machine. */
function hostIssues(args: KubeadmClusterArgs): ValidationIssue[] {
  const { files: extra = [], proxy, rollout } = args;
  return [
    ...sourceIssues(args),
    ...extra.flatMap(({ path, mode, owner }, index) => [
      ...check(["files", index, "path"], path, files.hostFilePathIssue),
      ...check(["files", index, "mode"], mode, files.fileModeIssue),
      ...check(["files", index, "owner"], owner, files.fileOwnerIssue),
    ]),
    ...below(["files"], files.hostFileListIssues(extra)),
    ...check(["proxy", "http"], proxy?.http, proxyUrlIssue),
    ...check(["proxy", "https"], proxy?.https, proxyUrlIssue),
    ...(proxy?.noProxy ?? []).flatMap((host, index) =>
      check(["proxy", "noProxy", index], host, noProxyIssue),
    ),
    ...Object.entries(rollout?.software ?? {}).flatMap(([name, version]: [string, string | undefined]) =>
      check(["rollout", "software", name], version, softwareVersionIssue),
    ),
  ];
}

/** Returns all issues of a cluster's plain arguments, by the same rules as for a stack's configuration. */
export function argumentIssues(name: string, args: KubeadmClusterArgs): ValidationIssue[] {
  const network = networkOf(args.network);
  const endpoint = args.endpoint ?? { loopback: DEFAULT_LOOPBACK };
  const machines = args.machines.map((machine) => ({
    ...machine,
    address: plain(machine.address),
    port: plain(machine.port) ?? SSH_PORT,
    internalAddress: plain(machine.internalAddress),
    apiServer: plain(machine.apiServer),
  }));
  return [
    ...issueAt(["name"], dnsLabelIssue(name, 40)),
    ...issueAt(["version"], kubernetesVersionIssue(args.version)),
    ...issueAt(["network", "podSubnet"], blocks.podSubnetIssue(network.podSubnet)),
    ...issueAt(["network", "serviceSubnet"], blocks.serviceSubnetIssue(network.serviceSubnet)),
    ...machines.flatMap((machine, index) => [
      ...issueAt(["machines", index, "name"], dnsLabelIssue(machine.name)),
      ...check(["machines", index, "pool"], machine.pool || undefined, poolNameIssue),
    ]),
    ...clusterIssues({
      machines,
      requireHostKeys: args.ssh?.requireHostKeys ?? false,
      rolesKnown: true,
      lost: args.lost ?? [],
      allowEvenControlPlanes: args.allowEvenControlPlanes ?? false,
      network,
      endpoint: "external" in endpoint ? { external: { host: plain(endpoint.external.host) } } : endpoint,
    }),
    ...("loopback" in endpoint
      ? issueAt(["endpoint", "loopback", "port"], loopbackPortIssue(endpoint.loopback.port))
      : issueAt(["endpoint", "external", "port"], apiPortIssue(endpoint.external.port))),
    ...passedThroughIssues(args),
    ...hostIssues(args),
  ];
}

/** Refuses invalid arguments before any resource is registered. @throws pulumi.InputPropertiesError with all issues */
export function assertArguments(name: string, args: KubeadmClusterArgs): void {
  const issues = argumentIssues(name, args);
  if (issues.length === 0) return;
  const list = issueLines(issues).map((line) => `  ${line}`);
  throw new pulumi.InputPropertiesError({
    message: [`KubeadmCluster ${printable(name)} has ${issueCount(issues)}:`, ...list].join("\n"),
    errors: issues.map(({ path, message }) => ({ propertyPath: formatPath(path), reason: message })),
  });
}
