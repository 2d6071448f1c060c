import { namesIn, type Outputs } from "../../../lib/pulumi/state";
import { printable } from "../../../lib/text/quote";

/** A resource of the state, with the fields that a release reads. */
interface ReleasableResource {
  /** foresail's own types have no prefix. */
  readonly type: string;
  readonly outputs: Outputs;
}

/** What a release of a stack does, one line each, or why it is refused. */
export type ReleasePlan = { readonly lines: readonly string[] } | { readonly refusal: string };

/** Returns what a release does to each machine of the stack's adopted cluster. */
export function planRelease(resources: readonly ReleasableResource[]): ReleasePlan {
  const [cluster, ...others] = resources.filter(({ type }) => type === "ClusterInit");
  if (cluster === undefined)
    return { refusal: "the stack has no kubeadm cluster, so there is nothing to release" };
  const { adopt, adopted } = cluster.outputs;
  if (others.length > 0 || typeof adopt !== "object" || adopt === null)
    return {
      refusal:
        "foresail made this cluster, whose machines can't do without what it configured; `pulumi destroy` resets them",
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
    ],
  };
}
