import { parsePreview } from "../../cli/review/preview";
import { parseUrn } from "../../lib/pulumi/state";

/** One resource that a preview would change. */
export interface PreviewedChange {
  /** The resource's own name. */
  readonly name: string;
  /** The engine's operation: create, update, replace, delete, … */
  readonly operation: string;
}

/** Every resource that changes, from the output of `pulumi preview --json`. */
export function changesOf(json: string): PreviewedChange[] {
  const { steps } = parsePreview(json);
  return steps
    .filter(({ op }) => op !== "same" && op !== "read")
    .map(({ op, urn }) => ({ name: parseUrn(urn).name, operation: op }));
}

/** The input `steps` of each resource that has any, by its name. */
export function stepsOf(json: string): Record<string, string[]> {
  const { steps } = parsePreview(json);
  return Object.fromEntries(
    steps.flatMap(({ urn, newState }) => {
      const lines = (newState?.inputs?.["steps"] ?? []) as string[];
      return lines.length > 0 ? [[parseUrn(urn).name, [...lines]] as const] : [];
    }),
  );
}

/**
 * The remote steps that change a machine, as "machine: operation", that a preview announces: what each line means is
 * said here a second time, on purpose.
 */
export function announcedOperations(preview: {
  changes: readonly PreviewedChange[];
  steps: Readonly<Record<string, readonly string[]>>;
}): string[] {
  const prepared = preview.changes.flatMap(({ name, operation }) => {
    const machine = /^[a-z0-9]+-(.+)-prepare$/.exec(name)?.[1];
    return machine !== undefined && operation === "create" ? [`${machine}: prepare`] : [];
  });
  const announced = Object.values(preview.steps).flatMap((lines) => {
    const operations = lines.flatMap((line) => {
      const machine = line.slice(0, line.indexOf(":"));
      return operationsOf(line.slice(line.indexOf(":") + 1)).map((operation) => `${machine}: ${operation}`);
    });
    // what an agent gets, it gets in one step
    return operations.filter(
      (operation, at) => !operation.endsWith(": node-agent") || operations.indexOf(operation) === at,
    );
  });
  const joining = announced.filter((operation) => operation.includes(": join-"));
  const configured = Object.values(preview.steps)
    .flat()
    .flatMap((line) => /^(\S+): stage configuration /.exec(line)?.[1] ?? []);
  // a join installs the agent, too, but not with a configuration that has changed
  const isOfJoin = (operation: string) =>
    operation.endsWith(": node-agent") &&
    !configured.includes(operation.replace(": node-agent", "")) &&
    joining.some((join) => join.startsWith(operation.replace("node-agent", "join-")));
  return [...prepared, ...announced.filter((operation) => !isOfJoin(operation))].sort();
}

function operationsOf(words: string): string[] {
  const meanings: [RegExp, string[]][] = [
    [/^ join as control plane/, ["join-control-plane"]],
    [/^ join as worker/, ["join-worker"]],
    [/^ register again, /, ["register"]],
    [/^ is a member that was given up: .* join as worker/, ["forget-membership", "join-worker"]],
    [
      /^ is a member that was given up: .* join as control plane/,
      ["forget-membership", "join-control-plane"],
    ],
    [/^ is a member without the label of its group: /, []],
    [/^ put .* behind 127\.0\.0\.1$/, ["endpoint"]],
    [
      /^ (prepared by a run that was interrupted; )?cordon, drain, remove its etcd member, kubeadm reset/,
      ["leave-control-plane", "reset"],
    ],
    [/^ (prepared by a run that was interrupted; )?cordon, drain, kubeadm reset/, ["reset"]],
    [/^ (install node agent|stage|no longer stage) /, ["node-agent"]],
    [/^ (add the encryption key|encrypt Secrets with|remove the encryption keys) /, ["encryption-keys"]],
    [/^ write every Secret again, /, []],
    [/^ lost, /, []],
    [/^ move its pods apart/, []],
    [/^ (label|taint) /, []],
    [/^ (restore the|write kubeadm-config and kubelet-config|record) /, []],
    [/^ left out, /, []],
    // the agent carries out a change of the configuration by itself, and goes back from one
    [
      /^ (.*; each node gets it from its rollout|configuration \S+ → .*|back to .*|update the ValidatingAdmissionPolicy .*)$/,
      [],
    ],
    // what `prepare` changes
    [/^ (write|replace|remove) \//, []],
    [/^ (load the kernel modules|set for the kernel|turn swap off,) /, []],
    [/^ install .* from (the Kubernetes repository|the bundle)$/, []],
    [/^ install from its distribution /, []],
  ];
  const found = meanings.find(([pattern]) => pattern.test(words));
  if (found === undefined) throw new Error(`a preview has a line that the test does not know: ${words}`);
  return found[1];
}
