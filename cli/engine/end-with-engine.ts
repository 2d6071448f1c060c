// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). The dynamic
// provider then ends with its engine from the start. Otherwise it does so only after it has loaded a handler, and an
// engine that is killed before that leaves it running.
import { endWithEngine, isDynamicProvider } from "../../lib/process/parent-watch";

if (isDynamicProvider()) {
  endWithEngine();
  // the engine died before this module was loaded: nobody reads the port that the provider prints first, and Pulumi
  // continues
  process.stdout.on("error", () => process.exit(1));
}
