// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). Each of them loads
// modules that foresail does not use: for closures, which its resources never serialize
// (docs/adr/0002-one-line-providers.md), for the Automation API, for traces, and zod's messages in other languages.
// Entries in the module cache replace them and load the real module on first use, which saves more than half of a
// process's start. The connection to V8's inspector, also for closures, is made on first use, too: it takes a sixth of a
// second of every program.
import { Session } from "node:inspector";
import Module, { createRequire } from "node:module";

/** The modules that foresail does not use, as Pulumi's programs find them. */
const UNUSED = [
  "@npmcli/arborist",
  "normalize-package-data",
  "@pulumi/pulumi/typescript-shim",
  "@pulumi/pulumi/automation",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "zod/v4/locales",
  // positions in sources, of stack traces, which foresail prints on request only
  ...(process.env["NODE_DEBUG"] === undefined ? ["source-map-support/register"] : []),
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
      get: (_target, name): unknown => {
        if (name === "__esModule") return true;
        // of a module without that mark, the whole module is the default
        return name === "default" && !Reflect.has(load(), name) ? load() : Reflect.get(load(), name);
      },
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

interface Hooks {
  isInitializedAsync: () => Promise<void>;
  getSessionAsync: () => Promise<Session>;
  getScriptUrl: (id: string) => string | undefined;
}

/**
 * Lets Pulumi connect to the inspector when it asks for something. It connects at the start in order to learn the files of
 * all scripts that load later. A listener that is there before it connects also gets those that are already loaded.
 */
function connectWhenUsed(hooks: Hooks): void {
  const urls = new Map<string, string>();
  let session: Session | undefined;
  hooks.isInitializedAsync = () => Promise.resolve();
  hooks.getScriptUrl = (id) => urls.get(id);
  hooks.getSessionAsync = async () => {
    if (session === undefined) {
      const connected = new Session();
      session = connected;
      connected.connect();
      connected.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
      connected.post("Debugger.enable");
    }
    return Promise.resolve(session);
  };
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
  try {
    connectWhenUsed(ofPulumi("@pulumi/pulumi/runtime/closure/v8Hooks") as Hooks);
  } catch {
    // nor has one that does not connect
  }
}
