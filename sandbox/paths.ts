import path from "node:path";

/** The folder that holds package.json; this file runs from bin/sandbox/. */
export const projectFolder = path.resolve(__dirname, "..", "..");

/** All files of the sandbox for this project; after `npm stop`, deleting it leaves only the cache. */
export const sandboxFolder = path.join(projectFolder, ".sandbox");

/** The file backend of the sandbox's stacks. */
export const stateFolder = path.join(sandboxFolder, "state");

/** The generated passphrase that protects the secrets of those stacks (0600). */
export const passphraseFile = path.join(sandboxFolder, "passphrase");

/** The project's name in Pulumi.yaml. */
export const projectName = "foresail";

/** Where the configuration of a stack is kept: Pulumi.yaml's stackConfigDir. */
export function stackFile(stack: string): string {
  return path.join(projectFolder, "stacks", "config", `Pulumi.${stack}.yaml`);
}

/** Where the administrator's kubeconfig of a system's cluster is written (0600). */
export function kubeconfigFile(system: string): string {
  return path.join(sandboxFolder, `kubeconfig-${system}`);
}
