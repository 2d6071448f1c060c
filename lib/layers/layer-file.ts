import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileFault } from "../files";
import { isObject } from "../json";
import { parseYaml } from "../yaml";
import type { LayerText } from "./layer";

/** A layer that can't be read; the message says why and what to do. */
export class LayerFileError extends Error {
  override readonly name = "LayerFileError";
}

/** Returns the folder of the stack files: `stackConfigDir` of the nearest Pulumi.yaml, from a folder upwards. */
export function stackFolder(from = process.cwd()): string {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "Pulumi.yaml");
    if (existsSync(file)) {
      const project = parseYaml(readFileSync(file, "utf8"));
      const named = isObject(project) ? project["stackConfigDir"] : undefined;
      return path.join(folder, typeof named === "string" ? named : "");
    }
    if (path.dirname(folder) === folder) return path.resolve(from);
  }
}

/** Returns the text of the file of a stack; undefined without one, as when the configuration comes from elsewhere. */
export function readStackFile(stack: string, from = process.cwd()): string | undefined {
  try {
    return readFileSync(path.join(stackFolder(from), `Pulumi.${stack}.yaml`), "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Reads the file of a layer: `layers/<name>.yaml` beside the stack files.
 *
 * @param from a folder of the project
 * @throws LayerFileError
 */
export function readLayerFile(name: string, from = process.cwd()): LayerText {
  const file = path.join(stackFolder(from), "layers", `${name}.yaml`);
  try {
    return { file: `layers/${name}.yaml`, text: readFileSync(file, "utf8") };
  } catch (cause) {
    const relative = path.relative(from, file);
    throw new LayerFileError(
      `names the layer "${name}", but ${relative} can't be read: ${fileFault(cause) ?? String(cause)}; create it, or correct the name`,
      { cause },
    );
  }
}
