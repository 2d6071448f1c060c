import path from "node:path";

/** NODE_OPTIONS that load the files, after the person's own options. */
export function preloading(files: readonly string[], own?: string): string {
  // node takes a quoted path with spaces, and wants quotes and backslashes in it escaped
  const quoted = files.map((file) => `--require "${file.replace(/["\\]/g, "\\$&")}"`);
  return [...(own ? [own] : []), ...quoted].join(" ");
}

/** Compiled files that the engine's node processes load first: what each of them is for, it says itself. */
export const PRELOADED: readonly string[] = ["lazy-closures.js", "end-with-engine.js"].map((name) =>
  path.join(__dirname, name),
);

/** The person's environment for an engine that foresail starts; what they set themselves stays. */
export function fleetEnvironment(base: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const own = base["NODE_OPTIONS"];
  const missing = PRELOADED.filter((file) => !own?.includes(file));
  return {
    // diffs that read the live system run side by side (docs/benchmarks.md)
    PULUMI_PARALLEL_DIFF: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...base,
    NODE_OPTIONS: preloading(missing, own),
  };
}
