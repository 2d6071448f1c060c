import { isObject } from "../../../../lib/json";
import { namesIn, type Outputs } from "../../../../lib/pulumi/state";
import { printable } from "../../../../lib/text/quote";
import { allPathsWritten } from "../configuration/rolled-configuration";
import { UNIT_FILE } from "../hardening/private-files";
import type { ClusterSpecification } from "../cluster/specification";

/** A resource of the state, with the fields that a release reads. */
interface ReleasableResource {
  /** foresail's own types have no prefix. */
  readonly type: string;
  readonly outputs: Outputs;
}

/** What a release of a stack does, one line each, or why it is refused. */
export type ReleasePlan = { readonly lines: readonly string[] } | { readonly refusal: string };

const isEmpty = (value: unknown): boolean =>
  value === undefined || (isObject(value) && Object.values(value).every(isEmpty));

/**
 * Returns what a release leaves as the stack configured it, one line each; empty when the stack changed no setting. A
 * release can't undo it: that takes a rollout, and the kubelet of a hardened machine does not start without its unit.
 *
 * @param outputs of the ClusterInit. Without a `configuration`, adopted machines have no file of the stack.
 */
export function remainingSettings({ specification: recorded, configuration }: Outputs): string[] {
  // a program can make the whole specification secret
  if (!isObject(recorded) || recorded.name === undefined)
    return ["cluster: keeps the settings that the stack changed"];
  const specification = recorded as unknown as ClusterSpecification;
  const { profile, authentication, kubeadm, kubelet, kubeProxy, proxy, caBundle } = specification;
  const own = { kubeadm: kubeadm?.clusterConfiguration, kubelet, kubeProxy };
  const isSet = ([, value]: [string, unknown]) => !isEmpty(value);
  const names = [
    ...(profile === undefined ? [] : [`profile ${profile}`]),
    ...Object.entries({ authentication, ...own })
      .filter(isSet)
      .map(([name]) => name),
  ];
  const isRolled = configuration !== undefined;
  const paths = isRolled ? allPathsWritten(specification) : [];
  const lines = [
    ...(names.length > 0 ? [`cluster: keeps the stack's settings: ${names.join(", ")}`] : []),
    ...(paths.length > 0 ? [`machines: keep the files ${paths.map(printable).join(", ")}`] : []),
    ...(isRolled ? Object.entries({ proxy, caBundle }) : [])
      .filter(isSet)
      .map(([name]) => `machines: keep ${name}`),
    ...(paths.includes(UNIT_FILE)
      ? [`machines: ${UNIT_FILE} sets kernel settings and makes files private whenever the kubelet starts`]
      : []),
  ];
  const undo =
    "to have the cluster's own values back instead, take these settings out of the stack file and run `up` before the release";
  return lines.length > 0 ? [...lines, undo] : [];
}

/** Returns what a release does to each machine of the stack's adopted cluster. */
export function planRelease(resources: readonly ReleasableResource[]): ReleasePlan {
  const [cluster, ...others] = resources.filter(({ type }) => type === "ClusterInit");
  if (cluster === undefined)
    return { refusal: "the stack has no kubeadm cluster, so there is nothing to release" };
  const { adopt, adopted } = cluster.outputs;
  if (others.length > 0 || typeof adopt !== "object" || adopt === null)
    return {
      refusal:
        "foresail made this cluster, whose machines can't do without what it configured; `pulumi destroy` resets them, and another stack takes it over with cluster.takeOver",
    };
  if ("reset" in adopt && adopt.reset === true)
    return {
      refusal:
        "cluster.resetOnDestroy is in the stack's state, so a destroy would reset the machines; remove it and run `up`, then release",
    };
  const isAdopted = (name: string) => Array.isArray(adopted) && adopted.includes(name);
  const machine = (name: string) =>
    isAdopted(name)
      ? `${printable(name)}: remove the node agent and foresail's marks; Kubernetes stays as it is`
      : `${printable(name)}: remove the node agent and foresail's marks; what foresail prepared it with stays, since Kubernetes needs it`;
  return {
    lines: [
      ...namesIn(cluster.outputs.machines).map(machine),
      "cluster: remove foresail's annotations, its label foresail/group, the account foresail-reader, the policy, the Lease and the history",
      "stack: remove every resource from its state",
      ...remainingSettings(cluster.outputs),
    ],
  };
}
