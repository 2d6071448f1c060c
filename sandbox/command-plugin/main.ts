/**
 * a replacement for the official plugin `pulumi-resource-command` 1.2.1, used only where that cannot be downloaded. It
 * serves command:remote:Command, command:remote:CopyToRemote and command:local:Command with the same inputs, outputs,
 * defaults and diffs, and rejects inputs that 1.2.1 does not know. docs/adr/0011-command-stand-in.md.
 *
 * Run by the Pulumi engine: `node main.js ENGINE_ADDRESS`; the first line it prints is the port that it serves on.
 */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { makeStructsFast } from "../../lib/pulumi/fast-structs.js";
import { commandService } from "./service.js";

const PARENT_CHECK_MILLISECONDS = 500;
const LARGEST_MESSAGE = 400 * 1024 * 1024;

/** Ends the plugin when the engine that started it has ended; commands on remote machines continue there. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(0);
  }, PARENT_CHECK_MILLISECONDS).unref();
}

function serve(): void {
  const server = new Server({
    "grpc.max_receive_message_length": LARGEST_MESSAGE,
    "grpc.max_send_message_length": LARGEST_MESSAGE,
  });
  const engineAddress = process.argv.slice(2).find((word) => !word.startsWith("-"));
  server.addService(ResourceProviderService, commandService(engineAddress));
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) {
      process.stderr.write(
        `pulumi-resource-command (replacement): cannot listen on 127.0.0.1: ${error.message}\n`,
      );
      process.exit(1);
    }
    process.stdout.write(`${String(port)}\n`);
  });
}

endWithParent();
makeStructsFast();
serve();
