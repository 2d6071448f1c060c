import { existsSync } from "node:fs";
import path from "node:path";
import { UsageError } from "../../terminal/exit-codes";
import type { PolicyOptions } from "../../engine/policy-call";
import type { Project } from "../../engine/pulumi";
import type { Fleet } from "../plan/fleet";
import { stackFileName } from "../files/stack-files";
import type { RunnerName } from "../temporal/server";

/** Returns a fleet whose previews are checked by the pack that the command line names, instead of that of fleet.yaml. */
export function withPolicyPack(fleet: Fleet, pack: string | undefined, runner: RunnerName): Fleet {
  if (pack === undefined) return fleet;
  if (runner === "temporal")
    throw new UsageError(
      "--policy-pack is of this machine, and workers preview: write policy: into fleet.yaml, which they read in their own checkouts",
    );
  return { ...fleet, policy: { ...fleet.policy, pack: path.resolve(pack) } };
}

/** Returns the policy pack for a stack, with the file of its parameters if there is one: `<stack>.json`. */
export function policyOf(
  { folder }: Project,
  { policy }: Pick<Fleet, "policy">,
  stack: string,
): PolicyOptions {
  if (policy === undefined) return {};
  const policyPack = path.resolve(folder, policy.pack);
  const environments = path.resolve(folder, policy.environments ?? path.join(policy.pack, "environments"));
  const policyPackConfig = path.join(environments, parametersFile(stack));
  return { policyPack, ...(existsSync(policyPackConfig) && { policyPackConfig }) };
}

const parametersFile = (stack: string) => stackFileName(stack).replace(/^Pulumi\.(.*)\.yaml$/, "$1.json");
