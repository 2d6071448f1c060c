import { plain, refuseArguments, withCurrentNames } from "../../lib/pulumi/arguments";
import { quoted } from "../../lib/text/quote";
import { ipVersion } from "../../lib/validation/addresses";
import { below, issueAt, issueLines, type ValidationIssue } from "../../lib/validation/validation-issue";
import { KUBEADM_CLUSTER_RENAMES } from "../../providers/kubeadm/plan/cluster/defaults";
import { proxyCredentialsIssue } from "../../providers/kubeadm/plan/validation/settings";
import { machineAddressIssues, type NetworkBlocks } from "../../providers/kubeadm/plan/validation/network";
import { blocksOf, machineClusterRules } from "../../stacks/schema/cluster-rules";
import { type ProfileSettings, profileWarnings } from "../../providers/kubeadm/plan/hardening/profile";
import { versionWarnings } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import { asWritten, checkedArguments, knownIssues, lifted } from "../arguments";
import { type CheckedArgs, ClusterArguments, type KubeadmClusterArgs, PLAIN } from "./kubeadm-cluster-args";

type MachineFacts = NonNullable<Parameters<typeof machineClusterRules>[0]["machines"]>[number];

const RULES = {
  plain: PLAIN,
  rules: ({
    rollout = {},
    provided,
    ...cluster
  }: Parameters<typeof machineClusterRules>[0] & Pick<KubeadmClusterArgs, "provided">) => [
    ...(cluster.machines ?? []).flatMap((machine, index) =>
      issueAt(["machines", index, "apiServer"], apiServerIssue(machine)),
    ),
    ...machineClusterRules({
      ...cluster,
      machines: cluster.machines?.map((machine) => asReached(machine, blocksOf(cluster))),
      // a pool that a component makes machines for may have none in this run, and the component has checked its names;
      // 0.1.0 accepted the empty name that splitting "" leaves
      ...(provided ? { pools: {} } : {}),
      rollout: provided
        ? {}
        : { ...rollout, pausedNodes: rollout.pausedNodes?.filter((name) => name !== "") },
    }),
  ],
};

/**
 * Returns a machine as its rules take it: in 0.1.0, the address at which only foresail reaches it could be in a block of the
 * cluster, and an empty internal address was none.
 */
function asReached({ internalAddress, ...machine }: MachineFacts, blocks: NetworkBlocks): MachineFacts {
  if (!internalAddress) return machine;
  const isInside = machineAddressIssues(blocks, machine).some(({ path: [field] }) => field === "address");
  const { address, ...others } = machine;
  return { ...others, internalAddress, ...(isInside || address === undefined ? {} : { address }) };
}

/** Returns what is wrong with a control plane of which only an address in IPv6 is known, or undefined. */
function apiServerIssue({ role, address = "", apiServer }: MachineFacts): string | undefined {
  return role === "control-plane" && !apiServer && ipVersion(address) === 6
    ? `is missing; write where its API is reached, since ${quoted(address)} is an IPv6 address: "cp-1.example.org:6443"`
    : undefined;
}

/** Returns the issues of what is known of a cluster's arguments, by the rules of a stack file. */
export const argumentIssues = (args: object): ValidationIssue[] => knownIssues(ClusterArguments, args, RULES);

/** Returns the issue of a program's own credentials for the proxy, which a stack file has among its secrets. */
export function credentialIssues({ proxy }: Pick<KubeadmClusterArgs, "proxy">): ValidationIssue[] {
  const credentials = plain(proxy?.credentials);
  if (proxy === undefined || credentials === undefined) return [];
  const issue = proxyCredentialsIssue(credentials, { http: plain(proxy.http), https: plain(proxy.https) });
  return issueAt(["proxy", "credentials"], issue);
}

/**
 * Returns the arguments of a cluster by the current names, checked and with the defaults of a stack file.
 *
 * @throws pulumi.InputPropertiesError with all issues
 */
export function checkedCluster(resourceName: string, given: KubeadmClusterArgs): CheckedArgs {
  const component = `KubeadmCluster ${resourceName}`;
  if (given.provided) {
    // another component has checked its own arguments, and made the machines
    const args = { ...given, name: given.name ?? resourceName };
    refuseArguments(component, argumentIssues(args));
    return args as CheckedArgs;
  }
  const current = withCurrentNames(component, given, KUBEADM_CLUSTER_RENAMES);
  const args = { ...current, name: current.name ?? resourceName };
  refuseArguments(component, credentialIssues(args));
  return withWritten(checkedArguments(component, ClusterArguments, args, RULES), args) as CheckedArgs;
}

/** Returns checked arguments with those parts as they were written whose defaults no state has. */
export function withWritten<Args extends object>(
  checked: Args,
  { kubeadm = {}, files = [], authentication = {}, certificates, rollout }: Written,
): Args & Pick<CheckedArgs, keyof Written> {
  const from = checked as unknown as Pick<CheckedArgs, keyof Written>;
  return {
    ...checked,
    kubeadm: asWritten(from.kubeadm, kubeadm),
    files: asWritten(from.files, files),
    authentication: asWritten(from.authentication, authentication),
    certificates: asWritten(from.certificates, certificates),
    rollout: { ...from.rollout, pools: asWritten(from.rollout.pools, rollout?.pools ?? {}) },
  };
}

/** Warns of what is accepted all the same, as soon as it is known. */
export function warnOf(args: CheckedArgs, warn: (line: string) => void): void {
  const { version, profile, kubeadm, kubelet, kubeProxy, files, encryptSecretsAtRest, pools } = args;
  const settings = { version, profile, kubeadm, kubelet, kubeProxy, files, encryptSecretsAtRest, pools };
  void lifted(settings, (known) => {
    const ofPools = Object.entries(known.pools).flatMap(([name, own]) =>
      below(["pools", name], profileWarnings({ profile: known.profile, ...own } as ProfileSettings)),
    );
    const warnings = [
      ...versionWarnings(known.version),
      ...profileWarnings(known as ProfileSettings),
      ...ofPools,
    ];
    issueLines(warnings).forEach(warn);
  });
}

type Written = Pick<
  Partial<KubeadmClusterArgs>,
  "kubeadm" | "files" | "authentication" | "certificates" | "rollout"
>;
