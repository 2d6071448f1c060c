import type { Handlers } from "../../../lib/pulumi/handler-types";
import { relationTo } from "../../kubernetes/plan/adoption";
import { objectName } from "../../kubernetes/plan/identity";
import { claimOf, type LiveObject } from "../../kubernetes/resources/adoption-inputs";
import { isNotServed } from "../../kubernetes/resources/inputs";
import { ownerReferenceOf } from "../plan/objects";
import type { DestroyGuardInputs as Inputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

const FORGET =
  "to forget the cluster without touching it: pulumi state delete --force --target-dependents <URN of its record or owner> " +
  "(pulumi stack --show-urns lists it), then run `pulumi destroy` again";

export const handlers: Handlers = clusterHandlers<Inputs>({
  check: (olds, news) => {
    // `--target` may leave the identity out
    const known = news.stackOwner.id === "" ? olds.stackOwner : undefined;
    return Promise.resolve({ inputs: known === undefined ? news : { ...news, stackOwner: known } });
  },
  isChanged: (olds, news) => olds.hasRecord !== news.hasRecord || olds.stackOwner.id !== news.stackOwner.id,
  write: (inputs) => inputs,

  async delete(olds) {
    const { stackOwner: owner, kubeconfig, stack, namespace } = olds;
    const { name, ...kind } = ownerReferenceOf(olds, olds.hasRecord);
    const inputs = {
      kubeconfig,
      stack,
      owner,
      timeoutSeconds: 0,
      object: { ...kind, metadata: { name, namespace } },
    };
    const ref = { ...kind, name, namespace };
    await onManagement("DestroyGuard", olds, "look at the owner of the cluster", async ({ management }) => {
      const live = await management.get<LiveObject>(ref).catch((error: unknown) => {
        // its kind is gone, and it with it
        if (!isNotServed(error)) throw error;
      });
      const relation = relationTo(live?.metadata?.annotations ?? {}, claimOf(inputs, inputs));
      if (relation.is !== "foreign") return;
      const message = `${objectName(ref)} belongs to ${relation.owner}; nothing of the cluster was touched`;
      throw Object.assign(new Error(message), { next: FORGET });
    });
  },
});
