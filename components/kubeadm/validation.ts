import * as pulumi from "@pulumi/pulumi";
import { DEFAULT_LOOPBACK, networkOf } from "../../providers/kubeadm/plan/defaults";
import { clusterIssues } from "../../providers/kubeadm/plan/validation/machines";
import {
  below,
  formatPath,
  issueAt,
  issueCount,
  issueLines,
  type ValidationIssue,
} from "../../lib/validation/validation-issue";
import {
  fileModeIssue,
  fileOwnerIssue,
  hostFileListIssues,
  hostFilePathIssue,
} from "../../providers/kubeadm/plan/validation/files";
import { dnsLabelIssue, poolNameIssue } from "../../lib/validation/names";
import {
  ciliumValuesIssues,
  podSubnetIssue,
  serviceSubnetIssue,
} from "../../providers/kubeadm/plan/validation/network";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { apiPortIssue, loopbackPortIssue, SSH_PORT } from "../../lib/validation/ports";
import { printable } from "../../lib/text/quote";
import { softwareVersionIssue } from "../../providers/kubeadm/plan/validation/rollout";
import { noProxyIssue, proxyUrlIssue } from "../../lib/validation/urls";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/source";
import { networkPlugin } from "./defaults";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** Returns an argument's plain value, or undefined for an Output, which the machine itself checks once it is known. */
function plain<T>(value: pulumi.Input<T> | undefined): T | undefined {
  return pulumi.Output.isInstance(value) || value instanceof Promise ? undefined : value;
}

/** Validates what is merged into Kubernetes objects, and values of a preset that replace foresail's own. */
function passedThroughIssues({
  kubeadm = {},
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
    ...below(["network", "plugin", "cilium", "values"], ciliumValuesIssues(cilium ?? {})),
  ];
}

/** Validates what is written to each machine. */
function hostIssues({ files = [], proxy, rollout }: KubeadmClusterArgs): ValidationIssue[] {
  const software = Object.entries(rollout?.software ?? {}).flatMap(([name, version]) =>
    version === undefined ? [] : issueAt(["rollout", "software", name], softwareVersionIssue(version)),
  );
  const proxies = (["http", "https"] as const).flatMap((scheme) => {
    const address = proxy?.[scheme];
    return address === undefined ? [] : issueAt(["proxy", scheme], proxyUrlIssue(address));
  });
  return [
    ...files.flatMap(({ path, mode, owner }, index) => [
      ...issueAt(["files", index, "path"], hostFilePathIssue(path)),
      ...(mode === undefined ? [] : issueAt(["files", index, "mode"], fileModeIssue(mode))),
      ...(owner === undefined ? [] : issueAt(["files", index, "owner"], fileOwnerIssue(owner))),
    ]),
    ...below(["files"], hostFileListIssues(files)),
    ...proxies,
    ...(proxy?.noProxy ?? []).flatMap((host, index) =>
      issueAt(["proxy", "noProxy", index], noProxyIssue(host)),
    ),
    ...software,
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
    ...issueAt(["network", "podSubnet"], podSubnetIssue(network.podSubnet)),
    ...issueAt(["network", "serviceSubnet"], serviceSubnetIssue(network.serviceSubnet)),
    ...machines.flatMap((machine, index) => [
      ...issueAt(["machines", index, "name"], dnsLabelIssue(machine.name)),
      ...issueAt(["machines", index, "pool"], machine.pool && poolNameIssue(machine.pool)),
    ]),
    ...clusterIssues({
      machines,
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

/**
 * Refuses invalid arguments, with all issues at once, before any resource is registered.
 *
 * @throws pulumi.InputPropertiesError with the path of each issue
 */
export function assertArguments(name: string, args: KubeadmClusterArgs): void {
  const issues = argumentIssues(name, args);
  if (issues.length === 0) return;
  const list = issueLines(issues).map((line) => `  ${line}`);
  throw new pulumi.InputPropertiesError({
    message: [`KubeadmCluster ${printable(name)} has ${issueCount(issues)}:`, ...list].join("\n"),
    errors: issues.map(({ path, message }) => ({ propertyPath: formatPath(path), reason: message })),
  });
}
