// Preloaded into the node processes of an engine that foresail starts (NODE_OPTIONS=--require …). The dynamic provider
// then ends with its engine from its first moment on; otherwise it does so only once it has loaded a handler, and an
// engine that is killed before that leaves it idle for ever.
import { endWithEngine, isDynamicProvider } from "../lib/pulumi/exit-with-parent";

if (isDynamicProvider()) {
  endWithEngine();
  // the engine died before this was loaded: nobody reads the port that the provider prints first, and Pulumi goes on
  process.stdout.on("error", () => process.exit(1));
}
