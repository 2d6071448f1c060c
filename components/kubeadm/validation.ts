import * as pulumi from "@pulumi/pulumi";
import {
  controlPlaneCountIssues,
  duplicateMachineIssues,
  lostMachineIssues,
  roleFieldIssues,
} from "../../providers/kubeadm/plan/validation/machines";
import {
  formatPath,
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
import { endpointIssues, machineApiPortIssues } from "../../providers/kubeadm/plan/validation/endpoint";
import { taintIssues } from "../../providers/kubeadm/plan/validation/node-labels";
import { dnsLabelIssue, poolNameIssue } from "../../lib/validation/names";
import {
  blocksOverlapIssues,
  ciliumValuesIssues,
  podBlockSizeIssues,
  podCidrIssue,
  serviceCidrIssue,
} from "../../providers/kubeadm/plan/validation/network";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { apiPortIssue, loopbackPortIssue } from "../../lib/validation/ports";
import { printable } from "../../lib/text/quote";
import { softwareVersionIssue } from "../../providers/kubeadm/plan/validation/rollout";
import { noProxyIssue, proxyUrlIssue } from "../../lib/validation/urls";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/version";
import { networkPlugin } from "./defaults";
import type { EndpointArgs, KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** Returns an argument's plain value, or undefined for an Output, which the machine itself checks once it is known. */
function plain<T>(value: pulumi.Input<T> | undefined): T | undefined {
  return pulumi.Output.isInstance(value) || value instanceof Promise ? undefined : value;
}

function one(path: (string | number)[], message: string | undefined): ValidationIssue[] {
  return message === undefined ? [] : [{ path, message }];
}

const below = (path: ValidationIssue["path"], issues: readonly ValidationIssue[]): ValidationIssue[] =>
  issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));

/** Validates what is merged into Kubernetes objects, and values of a preset that replace foresail's own. */
function passedThroughIssues({
  kubeadm = {},
  kubelet,
  kubeProxy,
  network,
}: KubeadmClusterArgs): ValidationIssue[] {
  const plugin = networkPlugin({ network });
  const cilium = "cilium" in plugin ? plugin.cilium.values : undefined;
  const objects = (["clusterConfiguration", "initConfiguration", "joinConfiguration"] as const).flatMap(
    (object) => below(["kubeadm", object], passThroughIssues(PASS_THROUGH[object], kubeadm[object] ?? {})),
  );
  return [
    ...objects,
    ...below(["kubelet"], passThroughIssues(PASS_THROUGH.kubelet, kubelet ?? {})),
    ...below(["kubeProxy"], passThroughIssues(PASS_THROUGH.kubeProxy, kubeProxy ?? {})),
    ...below(["network", "plugin", "cilium", "values"], ciliumValuesIssues(cilium ?? {})),
  ];
}

/** Validates what is written to each machine. */
function hostIssues({ files = [], proxy, rollout }: KubeadmClusterArgs): ValidationIssue[] {
  const software = Object.entries(rollout?.software ?? {}).flatMap(([name, version]) =>
    version === undefined ? [] : one(["rollout", "software", name], softwareVersionIssue(version)),
  );
  const proxies = (["http", "https"] as const).flatMap((scheme) => {
    const address = proxy?.[scheme];
    return address === undefined ? [] : one(["proxy", scheme], proxyUrlIssue(address));
  });
  return [
    ...files.flatMap(({ path, mode, owner }, index) => [
      ...one(["files", index, "path"], hostFilePathIssue(path)),
      ...(mode === undefined ? [] : one(["files", index, "mode"], fileModeIssue(mode))),
      ...(owner === undefined ? [] : one(["files", index, "owner"], fileOwnerIssue(owner))),
    ]),
    ...below(["files"], hostFileListIssues(files)),
    ...proxies,
    ...(proxy?.noProxy ?? []).flatMap((host, index) => one(["proxy", "noProxy", index], noProxyIssue(host))),
    ...software,
  ];
}

/** Returns all issues of a cluster's plain arguments, by the same rules as for a stack's configuration. */
export function argumentIssues(name: string, args: KubeadmClusterArgs): ValidationIssue[] {
  const machines = args.machines.map((machine, index) => ({
    index,
    name: machine.name,
    role: machine.role,
    address: plain(machine.address),
    port: plain(machine.port) ?? 22,
    internalAddress: plain(machine.internalAddress),
    pool: machine.pool,
    apiServer: plain(machine.apiServer),
  }));
  const blocks = {
    podCidr: args.network?.podCidr ?? "10.244.0.0/16",
    serviceCidr: args.network?.serviceCidr ?? "10.96.0.0/12",
  };
  const lost = args.lost ?? [];
  const endpoint: EndpointArgs = args.endpoint ?? { loopback: { port: 8443 } };
  return [
    ...one(["name"], dnsLabelIssue(name, 40)),
    ...one(["version"], kubernetesVersionIssue(args.version)),
    ...one(["network", "podCidr"], podCidrIssue(blocks.podCidr)),
    ...one(["network", "serviceCidr"], serviceCidrIssue(blocks.serviceCidr)),
    ...args.machines.flatMap((machine, index) => [
      ...one(["machines", index, "name"], dnsLabelIssue(machine.name)),
      ...(machine.pool === undefined ? [] : one(["machines", index, "pool"], poolNameIssue(machine.pool))),
    ]),
    ...duplicateMachineIssues(machines),
    ...machines.flatMap((machine) => roleFieldIssues(machine)),
    ...controlPlaneCountIssues({
      controlPlanes: machines.filter(({ role }) => role === "control-plane").length,
      allowEvenControlPlanes: args.allowEvenControlPlanes ?? false,
      lost: lost.length,
    }),
    ...lostMachineIssues(
      lost,
      machines.map((machine) => machine.name),
    ),
    ...machines.flatMap(({ index, role }) =>
      below(["machines", index, "taints"], taintIssues(args.machines[index]?.taints ?? [], role)),
    ),
    ...machines.flatMap((machine) => machineApiPortIssues(machine, ["machines", machine.index])),
    ...endpointIssues({
      loopbackPort: "loopback" in endpoint ? endpoint.loopback.port : undefined,
      externalHost: "external" in endpoint ? plain(endpoint.external.host) : undefined,
      ...blocks,
      machines,
    }),
    ...("loopback" in endpoint
      ? one(["endpoint", "loopback", "port"], loopbackPortIssue(endpoint.loopback.port))
      : []),
    ...("external" in endpoint
      ? one(["endpoint", "external", "port"], apiPortIssue(endpoint.external.port))
      : []),
    ...passedThroughIssues(args),
    ...hostIssues(args),
    ...blocksOverlapIssues(blocks),
    ...podBlockSizeIssues(blocks, machines.length),
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
