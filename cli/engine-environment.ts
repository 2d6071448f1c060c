import path from "node:path";

/** Returns NODE_OPTIONS that load the files, after the user's own options. */
export function preloading(files: readonly string[], own?: string): string {
  // Node.js accepts quoted paths with spaces, and requires escaped quotes and backslashes in them
  const quoted = files.map((file) => `--require "${file.replace(/["\\]/g, "\\$&")}"`);
  return [...(own ? [own] : []), ...quoted].join(" ");
}

/** Compiled files that the engine's Node.js processes load first; each describes its purpose. */
export const PRELOADED: readonly string[] = ["lazy-closures.js", "end-with-engine.js"].map((name) =>
  path.join(__dirname, name),
);

/** Returns the user's environment for an engine that foresail starts; the user's own settings take precedence. */
export function fleetEnvironment(base: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const own = base["NODE_OPTIONS"];
  const missing = PRELOADED.filter((file) => !own?.includes(file));
  return {
    // diffs that read the live system run in parallel (docs/benchmarks.md)
    PULUMI_PARALLEL_DIFF: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    ...base,
    NODE_OPTIONS: preloading(missing, own),
  };
}
