// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). @pulumi/pulumi
// loads the TypeScript compiler and npm's dependency resolver in each of them, but needs them only to serialize
// closures, which foresail's resources never do (docs/adr/0002-one-line-providers.md). Entries in the module cache
// replace them and load the real module on first use, which saves more than half of a process's start.
import Module, { createRequire } from "node:module";

/** The modules that only closures need, as Pulumi's programs find them. */
const ONLY_FOR_CLOSURES = ["@npmcli/arborist", "@pulumi/pulumi/typescript-shim"];

/** Puts a module into the cache that becomes the real one when one of its fields is first read. */
function loadWhenUsed(file: string, requireNow: NodeJS.Require): void {
  let loaded: object | undefined;
  const load = (): object => {
    if (loaded === undefined) {
      requireNow.cache[file] = undefined;
      loaded = requireNow(file) as object;
    }
    return loaded;
  };
  const entry = new Module(file);
  entry.loaded = true;
  entry.exports = new Proxy(
    {},
    {
      // the importer reads __esModule at once; true keeps it from copying all fields
      get: (_target, name): unknown => (name === "__esModule" ? true : Reflect.get(load(), name)),
    },
  );
  requireNow.cache[file] = entry;
}

const program = process.argv[1] ?? "";
if (/[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]/.test(program)) {
  const ofPulumi = createRequire(program);
  for (const id of ONLY_FOR_CLOSURES)
    try {
      loadWhenUsed(ofPulumi.resolve(id), ofPulumi);
    } catch {
      // a release of Pulumi without this module has nothing to save
    }
}
