/** Lines that the engine shows beside a resource: transient ones while a command runs, and permanent warnings. */
import type { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";

export interface ResourceLog {
  /** Shown only while the operation on the resource runs. */
  status(message: string): void;
  warning(message: string): void;
}

export class EngineLog {
  private client: Promise<EngineClient> | undefined;
  private stream = 0;

  /** @param address host:port of the engine; without one, nothing is logged */
  constructor(private readonly address: string | undefined) {}

  /** The log of one resource. */
  of(urn: string): ResourceLog {
    const stream = ++this.stream;
    return {
      status: (message) => void this.send(urn, stream, message, true),
      warning: (message) => void this.send(urn, stream, message, false),
    };
  }

  // Log lines are best effort: a command must not fail because the engine no longer listens.
  private async send(urn: string, stream: number, message: string, transient: boolean): Promise<void> {
    if (this.address === undefined) return;
    try {
      const { LogRequest, LogSeverity } = (await import("@pulumi/pulumi/proto/engine_pb.js")).default;
      const request = new LogRequest();
      request.setUrn(urn);
      request.setStreamid(stream);
      request.setMessage(message);
      request.setSeverity(transient ? LogSeverity.INFO : LogSeverity.WARNING);
      request.setEphemeral(transient);
      const client = await (this.client ??= connect(this.address));
      client.log(request, () => undefined);
    } catch {
      return;
    }
  }
}

async function connect(address: string): Promise<EngineClient> {
  const grpc = await import("@grpc/grpc-js");
  const { EngineClient: Client } = (await import("@pulumi/pulumi/proto/engine_grpc_pb.js")).default;
  return new Client(address, grpc.credentials.createInsecure());
}
