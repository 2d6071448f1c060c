import { existsSync } from "node:fs";
import path from "node:path";
import { pageOf } from "../../lib/pages";
import { readGivenFile } from "../../lib/files";
import { POLICY_LEVELS_VARIABLE } from "../../lib/text/policy-violation";
import { UsageError } from "../terminal/exit-codes";

/** A policy pack, as a command line names it. */
export interface PolicyOptions {
  /** The folder of the pack. */
  readonly policyPack?: string;
  /** The file with the pack's parameters and enforcement levels. */
  readonly policyPackConfig?: string;
}

/** What a run of the engine needs for a policy pack. */
export interface PolicyCall {
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export const NO_POLICIES: PolicyCall = { args: [], environment: {} };

/**
 * Returns the engine's arguments for a policy pack, which prints its violations as lines: JSON output has none.
 *
 * @throws Error when the pack or its file of parameters can't be read
 */
export async function policyCall({ policyPack, policyPackConfig }: PolicyOptions): Promise<PolicyCall> {
  if (policyPack === undefined) {
    if (policyPackConfig !== undefined)
      throw new UsageError("--policy-pack-config needs --policy-pack with the folder of the pack");
    return NO_POLICIES;
  }
  if (!existsSync(path.join(policyPack, "PulumiPolicy.yaml")))
    throw new UsageError(
      `${policyPack} is not a policy pack: it has no PulumiPolicy.yaml; name the pack's folder`,
    );
  const args = ["--policy-pack", path.resolve(policyPack)];
  // a pack may have the program that runs it; Pulumi.yaml can name it only where the package is installed already
  const PATH = [process.env["PATH"] ?? "", path.resolve(policyPack)].join(path.delimiter);
  if (policyPackConfig === undefined) return { args, environment: { PATH, [POLICY_LEVELS_VARIABLE]: "{}" } };
  const fix = `give a JSON file with the parameters of the policies: ${pageOf("policies")}`;
  const configuration = await readGivenFile(policyPackConfig, "the configuration of the policies", fix);
  return {
    args: [...args, "--policy-pack-config", path.resolve(policyPackConfig)],
    environment: { PATH, [POLICY_LEVELS_VARIABLE]: configuration },
  };
}

/** Returns the arguments of foresail that name a policy pack. */
export const policyArguments = ({ policyPack, policyPackConfig }: PolicyOptions): string[] => [
  ...(policyPack === undefined ? [] : ["--policy-pack", policyPack]),
  ...(policyPackConfig === undefined ? [] : ["--policy-pack-config", policyPackConfig]),
];
