// Preloaded into the node processes of an engine that foresail starts (NODE_OPTIONS=--require …). @pulumi/pulumi loads
// the TypeScript compiler and npm's dependency resolver in every one of them, and needs them only to serialise closures,
// which foresail's resources never do (docs/adr/0002-one-line-providers.md). A stand-in takes their place that loads the
// real one when it is first used; what that saves is in docs/benchmarks.md.
import Module from "node:module";
import path from "node:path";

/** What only closures need: as it is required, and by which file of @pulumi/pulumi. */
const ONLY_FOR_CLOSURES = new Map([
  ["@npmcli/arborist", path.join("@pulumi", "pulumi", "runtime", "closure", "codePaths.js")],
  ["../../typescript-shim", path.join("@pulumi", "pulumi", "runtime", "closure", "parseFunction.js")],
]);

/** An object that becomes the module when one of its fields is first read. */
function whenUsed(load: () => object): object {
  let loaded: object | undefined;
  return new Proxy(
    {},
    {
      get(_target, name): unknown {
        // the importer asks for this one at once; true keeps it from copying all fields
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
