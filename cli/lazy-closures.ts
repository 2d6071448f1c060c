// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). @pulumi/pulumi
// loads the TypeScript compiler and npm's dependency resolver in each of them, but needs them only to serialize
// closures, which foresail's resources never do (docs/adr/0002-one-line-providers.md). A proxy replaces them and loads
// the real module on first use; docs/benchmarks.md has the savings.
import Module from "node:module";
import path from "node:path";

/** The modules that only closures need: the required id, and the file of @pulumi/pulumi that requires it. */
const ONLY_FOR_CLOSURES = new Map([
  ["@npmcli/arborist", path.join("@pulumi", "pulumi", "runtime", "closure", "codePaths.js")],
  ["../../typescript-shim", path.join("@pulumi", "pulumi", "runtime", "closure", "parseFunction.js")],
]);

/** Returns an object that becomes the module when one of its fields is first read. */
function whenUsed(load: () => object): object {
  let loaded: object | undefined;
  return new Proxy(
    {},
    {
      get(_target, name): unknown {
        // the importer reads this field at once; true keeps it from copying all fields
        if (name === "__esModule") return true;
        return Reflect.get((loaded ??= load()), name);
      },
    },
  );
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its module below
const requireNow = Module.prototype.require;
Module.prototype.require = function (this: Module, id: string): unknown {
  const importer = ONLY_FOR_CLOSURES.get(id);
  if (importer === undefined || !this.filename.endsWith(importer)) return requireNow.call(this, id);
  return whenUsed(() => requireNow.call(this, id) as object);
} as NodeJS.Require;
