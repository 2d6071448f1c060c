import { createRequire } from "node:module";
import { makeInterruptible } from "../process/interruption";

/** What foresail replaces of gRPC's server (@grpc/grpc-js 1.10 and later). */
interface Server {
  _retrieveHandler?: (this: Server, path: string) => unknown;
}

const CANCEL = "/pulumirpc.ResourceProvider/Cancel";

/**
 * Interrupts this process's handlers when the engine cancels the run (docs/adr/0077-interrupts.md): Pulumi's dynamic
 * provider answers that call and does nothing.
 */
export function interruptWithEngine(): void {
  const ofPulumi = createRequire(require.resolve("@pulumi/pulumi"));
  const { prototype } = (ofPulumi("@grpc/grpc-js") as { Server: { readonly prototype: Server } }).Server;
  const { _retrieveHandler: retrieve } = prototype;
  // a later release may have another one
  if (retrieve === undefined) return;
  const interrupt = makeInterruptible();
  prototype._retrieveHandler = function (path) {
    if (path === CANCEL) interrupt();
    return retrieve.call(this, path);
  };
}
