import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { configurationPage } from "./configuration-page";
import { preflightPage } from "./preflight-page";
import {
  clusterJsonSchema,
  fleetJsonSchema,
  layerJsonSchema,
  stackFileJsonSchema,
  systemSections,
} from "./configuration-schema";

/** The project folder; this file runs from bin/scripts. */
const ROOT = resolve(__dirname, "..", "..");

/** Returns every generated file of the configuration: path from the project folder → content. */
export function generatedDocs(root = ROOT): Record<string, string> {
  const example = readFileSync(join(root, "stacks/config/Pulumi.example-onprem.yaml"), "utf8");
  return {
    "docs/configuration.schema.json": `${JSON.stringify(stackFileJsonSchema(), null, 2)}\n`,
    "docs/layer.schema.json": `${JSON.stringify(layerJsonSchema(), null, 2)}\n`,
    "docs/fleet.schema.json": `${JSON.stringify(fleetJsonSchema(), null, 2)}\n`,
    "docs/preflight.md": preflightPage(),
    "docs/configuration.md": configurationPage(clusterJsonSchema(), systemSections(), example),
  };
}

/** Returns the generated files whose content on disk differs from the schema. */
export function staleDocs(root = ROOT): string[] {
  return Object.entries(generatedDocs(root))
    .filter(([path, content]) => readOrEmpty(join(root, path)) !== content)
    .map(([path]) => path);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function main(): void {
  if (!process.argv.includes("--check")) {
    for (const [path, content] of Object.entries(generatedDocs())) writeFileSync(join(ROOT, path), content);
    return;
  }
  const stale = staleDocs();
  if (stale.length === 0) return;
  console.error(`out of date with stacks/schema: ${stale.join(", ")}; run: npm run docs`);
  process.exitCode = 1;
}

if (require.main === module) main();
