import { existsSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "../sandbox/nodes/paths";
import { runCommand } from "./command";

export const ANSIBLE_VERSION = "2.18.6";

/**
 * Ensures that Ansible from the Python package index is in the cache.
 * @returns path of ansible-playbook
 * @throws Error with pip's output
 */
export async function ensureAnsible(): Promise<string> {
  const folder = path.join(cacheFolder, `ansible-${ANSIBLE_VERSION}`);
  const program = path.join(folder, "bin", "ansible-playbook");
  if (existsSync(program)) return program;
  await runCommand("python3", ["-m", "venv", folder], { seconds: 120 });
  await runCommand(
    path.join(folder, "bin", "pip"),
    ["install", "--quiet", `ansible-core==${ANSIBLE_VERSION}`],
    {
      seconds: 600,
    },
  );
  return program;
}
