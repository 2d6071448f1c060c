import { REMOVAL, type ObservedNode, type Removal, removalIn } from "../../plan/membership/nodes";
import { type ClusterSession, nodeReference } from "../session/cluster-session";

type Session = Pick<ClusterSession, "kubernetes" | "assertMayGoOn">;

/** Records on a Node that its removal begins, before anything is done to it. */
export async function beginRemoval(
  { kubernetes }: Session,
  { name, removal, unschedulable }: ObservedNode,
): Promise<void> {
  // an earlier run has recorded what it found
  if (removal !== undefined) return;
  const value: Removal = unschedulable ? "was-cordoned" : "cordoned";
  await kubernetes.mergePatch(nodeReference(name), { metadata: { annotations: { [REMOVAL]: value } } });
}

/** Ends the removal of a Node whose machine is configured again: it takes pods as before. */
export async function endRemoval(session: Session, name: string): Promise<void> {
  await session.assertMayGoOn();
  const { kubernetes } = session;
  const removal = removalIn((await kubernetes.getNode(name))?.metadata?.annotations);
  if (removal === undefined) return;
  await kubernetes.mergePatch(nodeReference(name), {
    metadata: { annotations: { [REMOVAL]: null } },
    ...(removal === "cordoned" ? { spec: { unschedulable: null } } : {}),
  });
}
