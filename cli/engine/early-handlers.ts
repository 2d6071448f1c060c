// Preloaded into the Node.js processes of an engine that foresail starts (NODE_OPTIONS=--require …). The dynamic provider
// waits while the program computes (docs/adr/0042-early-providers.md). In that time it loads the handlers of clusters, which
// nearly every stack has, so that its first answer is not the slowest one.
import { createRequire } from "node:module";
import path from "node:path";
import { isDynamicProvider } from "../../lib/process/parent-watch";

/** Keys of providers/handlers.ts. */
const EARLY = [
  "kubeadm/ClusterInit",
  "kubeadm/AdminKubeconfig",
  "kubeadm/NodeGroup",
  "kubeadm/NodeRollout",
] as const;

/** Loads the handlers as the state's provider text does; a project without foresail has none. */
function loadHandlers(): void {
  try {
    const { handlers } = createRequire(path.join(process.cwd(), "Pulumi.yaml"))("foresail/handlers") as {
      handlers: Readonly<Record<string, unknown>>;
    };
    for (const key of EARLY) void handlers[key];
  } catch {
    // the first resource that needs them reports it
  }
}

if (isDynamicProvider()) {
  const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
  // the provider prints its port, for which the engine waits, and nothing else
  process.stdout.write = (...args: unknown[]) => {
    process.stdout.write = write;
    setImmediate(loadHandlers);
    return write(...args);
  };
}
