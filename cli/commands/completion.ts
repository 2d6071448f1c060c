import { commandFacts } from "../manual/command-tree";
import { completionScript, type Shell } from "../manual/completion";
import { manPage } from "../manual/man-page";
import { EXIT, EXIT_CODES } from "../terminal/exit-codes";
import { foresailVersion } from "../../lib/version";
import type { Command } from "commander";

const write = (text: string): void => void process.stdout.write(text);

/** Prints the script that completes the commands in a shell. @returns the exit code */
export function completion(program: Command, shell: Shell): number {
  write(completionScript(shell, commandFacts(program)));
  return EXIT.done;
}

/** Variables that foresail itself reads; the engine and the SDKs read their own. */
const ENVIRONMENT = [
  ["KUBECONFIG", "the kubeconfigs of plan and adopt without --kubeconfig; default: ~/.kube/config"],
  ["NO_COLOR", "no colors, whatever it is set to; --color takes precedence"],
  ["FORESAIL_FLEET_KEY", "the key that seals the runs of a fleet on a Temporal server"],
  ["PULUMI_CONFIG_PASSPHRASE", "read by the engine: what encrypts the secrets of a stack"],
] as const;

/** Prints the manual page, for man(1). @returns the exit code */
export function man(program: Command): number {
  const exitCodes = Object.values(EXIT_CODES).map(
    ([code, meaning]) => [code, meaning.replaceAll("`", "")] as const,
  );
  write(manPage(commandFacts(program), { version: foresailVersion(), exitCodes, environment: ENVIRONMENT }));
  return EXIT.done;
}
