import { access, readFile } from "node:fs/promises";
import { handVariables } from "./engine-environment";
import { mergeNodes, type NodeObject, type NodeStatus } from "./node-status";
import { recordedStacks } from "./state-file";
import { stackOf, type System } from "./systems/system";

/** The running systems, as `npm run status -- --json` prints them. */
export interface Status {
  readonly stacks: readonly { readonly name: string; readonly system: string; readonly resources: number }[];
  readonly clusters: readonly {
    readonly name: string;
    readonly system: string;
    readonly stack: string;
    /** Path of the administrator's kubeconfig; null before there is one. */
    readonly kubeconfig: string | null;
    readonly nodes: readonly NodeStatus[];
  }[];
  /** The variables for running `pulumi` on the stacks by hand. */
  readonly environment: Readonly<Record<string, string>>;
}

const API_SECONDS = 5;

/** Determines what is running. Sets up and changes nothing; a cluster that does not answer is not an error. */
export async function gatherStatus(systems: readonly System[], pulumiHome: string): Promise<Status> {
  const recorded = await recordedStacks();
  const started = systems.flatMap((system) => {
    const stack = recorded.find((each) => each.name === stackOf(system));
    return stack === undefined ? [] : [{ system, stack }];
  });
  const clusters = await Promise.all(
    started.map(async ({ system, stack }) =>
      Promise.all(
        (await system.clusters()).map(async ({ name, kubeconfig, nodes }) => {
          const isWritten = await access(kubeconfig).then(
            () => true,
            () => false,
          );
          const live = isWritten ? await listNodes(kubeconfig) : "the cluster is not created yet";
          return {
            name,
            system: system.name,
            stack: stack.name,
            kubeconfig: isWritten ? kubeconfig : null,
            nodes: mergeNodes(nodes, live),
          };
        }),
      ),
    ),
  );
  return {
    stacks: started.map(({ system, stack }) => ({ ...stack, system: system.name })),
    clusters: clusters.flat(),
    environment: started.reduce(
      (all, { system }) => ({ ...all, ...system.environment }),
      handVariables(pulumiHome),
    ),
  };
}

/** @returns the reason if the cluster could not be reached */
async function listNodes(kubeconfigFile: string): Promise<readonly NodeObject[] | string> {
  try {
    const { KubernetesClient } = await import("../lib/kubernetes/index.js");
    const kubeconfig = await readFile(kubeconfigFile, "utf8");
    const client = await KubernetesClient.connect(
      { kubeconfig },
      { seconds: API_SECONDS, callSeconds: API_SECONDS },
    );
    try {
      return await client.listNodes();
    } finally {
      client.close();
    }
  } catch (error) {
    return `the API does not answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Formats the status for users: what is running, then the variables as lines to paste. */
export function formatStatus(status: Status): string {
  const lines: string[] = [];
  for (const { name, system, resources } of status.stacks) {
    lines.push(`stack ${name} (system ${system}), ${resources} resources`);
  }
  for (const { name, stack, kubeconfig, nodes } of status.clusters) {
    lines.push(`cluster ${name} of ${stack}, kubeconfig: ${kubeconfig ?? "not written yet"}`);
    const columns = nodes.map((node) => [node.name, node.role, node.version ?? "-", node.status]);
    const width = (column: number): number => Math.max(...columns.map((row) => row[column]?.length ?? 0));
    for (const row of columns) {
      lines.push(
        `  ${row.map((cell, column) => (column < 3 ? cell.padEnd(width(column)) : cell)).join("  ")}`,
      );
    }
  }
  if (lines.length === 0) lines.push("Nothing runs. Start with: npm start");
  lines.push("", "To run pulumi on these stacks by hand:");
  for (const [name, value] of Object.entries(status.environment))
    lines.push(`  export ${name}='${value.replaceAll("'", "'\\''")}'`);
  return lines.join("\n");
}
