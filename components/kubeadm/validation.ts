import { takeOverIssue } from "../../lib/ownership/owner";
import { plain } from "../../lib/pulumi/arguments";
import { dnsLabelIssue, nodeNameIssue, poolNameIssue } from "../../lib/validation/names";
import { apiPortIssue, loopbackPortIssue, SSH_PORT } from "../../lib/validation/ports";
import { below, issueAt } from "../../lib/validation/validation-issue";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { networkOf } from "../../providers/kubeadm/plan/cluster/defaults";
import { adoptionIssues } from "../../providers/kubeadm/plan/adoption/validation";
import { clusterIssues, encryptionKeyIssue } from "../../providers/kubeadm/plan/validation/machines";
import { authenticationIssues } from "../../providers/kubeadm/plan/hardening/validation";
import { contradictionIssues, nodePrefix } from "../../providers/kubeadm/plan/validation/contradictions";
import { ciliumValuesIssues } from "../../providers/kubeadm/plan/validation/network-plugin";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { profileIssue } from "../../providers/kubeadm/plan/hardening/profile";
import { check, settingsIssues } from "../../providers/kubeadm/plan/validation/settings";
import { softwareVersionIssue, unreachableIssue } from "../../providers/kubeadm/plan/validation/rollout";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/source";
import { networkPlugin } from "./defaults";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** Validates what is merged into Kubernetes objects, and values of a preset that replace foresail's own. */
function passedThroughIssues({
  kubeadm,
  kubelet,
  kubeProxy,
  network,
}: Omit<KubeadmClusterArgs, "machines">): ValidationIssue[] {
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
function hostIssues(args: Omit<KubeadmClusterArgs, "machines">): ValidationIssue[] {
  const { files, caBundle, endpoint, rollout, proxy } = args;
  const external = endpoint && "external" in endpoint ? { host: plain(endpoint.external.host) } : undefined;
  return [
    ...settingsIssues({
      ...args,
      files: files?.map((file) => ({ ...file, content: plain(file.content) })),
      proxy: proxy && { ...proxy, credentials: plain(proxy.credentials) },
      registries: args.registries,
      caBundle: plain(caBundle),
      endpoint: { external },
    }),
    ...Object.entries(rollout?.software ?? {}).flatMap(([name, version]: [string, string | undefined]) =>
      check(["rollout", "software", name], version, softwareVersionIssue),
    ),
    ...check(["rollout", "unreachable"], rollout?.unreachable, unreachableIssue),
  ];
}

/** Returns the issues of the arguments that need no machines, which other components pass on. */
export function clusterSettingIssues(args: Omit<KubeadmClusterArgs, "machines">): ValidationIssue[] {
  return [
    ...issueAt(["version"], kubernetesVersionIssue(args.version)),
    ...adoptionIssues(args),
    ...passedThroughIssues(args),
    ...check(["profile"], args.profile, profileIssue),
    ...check(["takeOver"], args.takeOver, takeOverIssue),
    ...authenticationIssues(args),
    ...contradictionIssues(args),
    ...hostIssues(args),
  ];
}

/** Returns all issues of a cluster's plain arguments, by the same rules as for a stack's configuration. */
export function argumentIssues(name: string, args: KubeadmClusterArgs): ValidationIssue[] {
  const network = { ...networkOf(args.network), nodePrefix: nodePrefix(args) };
  const endpoint = args.endpoint ?? { loopback: {} };
  const machines = args.machines.map((machine) => ({
    ...machine,
    address: plain(machine.address),
    port: plain(machine.port) ?? SSH_PORT,
    internalAddress: plain(machine.internalAddress),
    apiServer: plain(machine.apiServer),
  }));
  return [
    ...issueAt(["name"], dnsLabelIssue(name, 40)),
    ...clusterSettingIssues(args),
    ...machines.flatMap((machine, index) => [
      ...issueAt(["machines", index, "name"], nodeNameIssue(machine.name)),
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
      ? check(["endpoint", "loopback", "port"], endpoint.loopback.port, loopbackPortIssue)
      : issueAt(["endpoint", "external", "port"], apiPortIssue(endpoint.external.port))),
    ...check(["encryptionKeyGeneration"], args.encryptionKeyGeneration, (generation) =>
      encryptionKeyIssue({ ...args, encryptionKeyGeneration: generation }),
    ),
  ];
}
