import * as pulumi from "@pulumi/pulumi";
import { ArgumentReader } from "../../lib/pulumi/argument-reader";
import { isPlain, refuseArguments, withCurrentNames } from "../../lib/pulumi/arguments";
import type { DeepInput } from "../../lib/pulumi/dynamic-resource";
import { warn } from "../../lib/pulumi/log";
import { issueLines } from "../../lib/validation/validation-issue";
import { KUBEADM_CLUSTER_RENAMES } from "../../providers/kubeadm/plan/cluster/defaults";
import { profileWarnings } from "../../providers/kubeadm/plan/hardening/profile";
import { versionWarnings } from "../../providers/kubeadm/plan/validation/source";
import { machineRules } from "../../stacks/schema/cluster-rules";
import {
  FIXED,
  type KubeadmClusterArgs,
  KubeadmClusterFields,
  type KubeadmClusterSettings,
  ProvidedClusterFields,
} from "./kubeadm-cluster-args";

/**
 * Reads the arguments of a cluster.
 *
 * @param component class and name of the component, for messages
 * @param name of the cluster, unless the arguments name another one
 * @throws ArgumentsError with all issues of what is known already
 */
export function readArguments(component: string, name: string, given: KubeadmClusterArgs) {
  const { nodesEndpoint, provided, leavingLater, ...current } = withCurrentNames(
    component,
    given,
    KUBEADM_CLUSTER_RENAMES,
  );
  const args = { name, ...current };
  const reader = new ArgumentReader(provided ? ProvidedClusterFields : KubeadmClusterFields, args, {
    component,
    fixed: FIXED,
    rules: machineRules,
  });
  refuseArguments(component, reader.issues);
  return { reader, args, nodesEndpoint, provided, leavingLater };
}

type Warned = Parameters<typeof profileWarnings>[0] & { version: string };

/** Warns of versions and of settings that weaken a profile, as soon as they are known. */
export function warnOfSettings(
  component: string,
  settings: KubeadmClusterSettings,
  resource: pulumi.Resource,
): void {
  const { version, profile, kubeadm, kubelet, kubeProxy, files, encryptSecretsAtRest } = settings;
  const warned = { version, profile, kubeadm, kubelet, kubeProxy, files, encryptSecretsAtRest };
  const warnOf = (known: Warned) => {
    for (const line of issueLines([...versionWarnings(known.version), ...profileWarnings(known)]))
      void warn(`${component}: ${line}`, resource);
  };
  if (isPlain<Warned>(warned as DeepInput<Warned>)) warnOf(warned as Warned);
  else pulumi.output(warned).apply((known) => warnOf(known as Warned));
}
