// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). Each of them loads
// modules that foresail does not use: for closures, which its resources never serialize
// (docs/adr/0002-one-line-providers.md), for the Automation API, for traces, and zod's messages in other languages.
// Entries in the module cache replace them and load the real module on first use, which saves more than half of a
// process's start.
import Module, { createRequire } from "node:module";

/** The modules that foresail does not use, as Pulumi's programs find them. */
const UNUSED = [
  "@npmcli/arborist",
  "@pulumi/pulumi/typescript-shim",
  "@pulumi/pulumi/automation",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "normalize-package-data",
  "zod/v4/locales",
];

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
      // what exports all fields of another module lists them
      has: (_target, name) => Reflect.has(load(), name),
      ownKeys: () => Reflect.ownKeys(load()),
      getOwnPropertyDescriptor: (_target, name) => {
        const descriptor = Reflect.getOwnPropertyDescriptor(load(), name);
        return descriptor && { ...descriptor, configurable: true };
      },
    },
  );
  requireNow.cache[file] = entry;
}

const program = process.argv[1] ?? "";
if (/[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]/.test(program)) {
  const ofPulumi = createRequire(program);
  for (const id of UNUSED)
    try {
      loadWhenUsed(ofPulumi.resolve(id), ofPulumi);
    } catch {
      // a release of Pulumi without this module has nothing to save
    }
}
