import * as pulumi from "@pulumi/pulumi";
import type { LayerText } from "../../lib/layers/layer";
import { readLayerFile, readStackFile } from "../../lib/layers/layer-file";
import type { SharedStacks } from "../../lib/layers/shared-values";

/** Source of the configuration. Values are strings; objects are JSON. */
export interface ConfigurationReader {
  project: string;
  stack: string;
  values: Readonly<Record<string, string>>;
  /** Whether a full key, "foresail:sshPrivateKey", is encrypted. */
  isSecret(key: string): boolean;
  /** Reads the file of a layer. @default none can be read */
  readLayer?(name: string): LayerText;
  /** Returns the text of the stack file, for the lines of its values. @default none */
  readStackFile?(): string | undefined;
  /** The stacks of `foresail:shared`, as {@link withShared} read them. */
  readonly shared?: SharedStacks;
}

/** Returns a reader of the configuration that the engine passes to the program. */
export function engineReader(project = pulumi.getProject()): ConfigurationReader {
  // The typings have no isConfigSecret, which pulumi.Config uses itself. Getters of Config would log a warning for each
  // secret, and they can't list the keys.
  const runtime = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };
  return {
    project,
    stack: pulumi.getStack(),
    values: pulumi.runtime.allConfig(),
    isSecret: (key) => runtime.isConfigSecret(key),
    readLayer: (name) => readLayerFile(name),
    readStackFile: () => readStackFile(pulumi.getStack().replace(/^.*\//, "")),
  };
}
