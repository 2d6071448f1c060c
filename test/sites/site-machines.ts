import { run } from "../../sandbox/nodes/command";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import type { SandboxNode } from "../../sandbox/nodes";
import type { Reporter } from "../../sandbox/progress";

export const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** Runs shell lines as root on a node, past SSH. @returns what they printed */
export async function onNode(node: SandboxNode, lines: string): Promise<string> {
  const engine = await ContainerEngine.ensure(silent);
  return (await run(engine.program, ["exec", node.container, "bash", "-ceu", lines])).trim();
}

/** This machine's address on the nodes' own network. */
export function gatewayOf(node: SandboxNode): Promise<string> {
  return onNode(node, "ip route show default | awk '{print $3}'");
}

/** Whether nothing of Kubernetes is on a node and no step of foresail's claimed more than its name. */
export function kubernetesOn(node: SandboxNode): Promise<string> {
  return onNode(
    node,
    "find /etc/kubernetes /usr/bin/kube* /usr/local/bin/kube* /var/lib/foresail/member -type f 2>/dev/null || true",
  );
}
