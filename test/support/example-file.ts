import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { projectFolder } from "../../sandbox/paths";

/**
 * The values of a stack file of examples/, by their keys without the project's name.
 * @param system folder below examples/
 * @param stack such as "dev-eu1"
 */
export function readExample(system: string, stack: string): Record<string, unknown> {
  const file = path.join(projectFolder, "examples", system, `Pulumi.${stack}.yaml`);
  const { config } = parse(readFileSync(file, "utf8")) as { config: Record<string, unknown> };
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key.replace(/^foresail:/, ""), value]),
  );
}
