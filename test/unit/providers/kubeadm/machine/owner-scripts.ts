import { machineFactsScript } from "../../../../../providers/kubeadm/machine/facts/facts-script";
import { ownScript, type Script, withOwner } from "../../../../../providers/kubeadm/machine/steps";

const OWNER = { id: "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", stack: "organization/shop/staging" };
const FORMER = "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d";

/** The steps that only find out or record whose a machine is. */
export const ownerScripts: Record<string, Script> = {
  "machine-facts": machineFactsScript("", "w-1"),
  own: withOwner(ownScript("demo", "w-1"), OWNER, FORMER),
};
