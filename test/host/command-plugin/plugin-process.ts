/** Starts the command plugin as the Pulumi engine does, with an engine of the test's to log to, and calls it by gRPC. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { credentials, Server, ServerCredentials, type ServiceError } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { Properties } from "../../../sandbox/command-plugin/wire.js";

/** The plugin under test: the official one, where its path is given, or the substitute. */
const OFFICIAL = process.env["FORESAIL_COMMAND_PLUGIN"];
export const isReplacement = OFFICIAL === undefined;

const REPLACEMENT = path.resolve(__dirname, "../../../sandbox/command-plugin/main.js");
const CALL_DEADLINE = 15_000;

export interface Log {
  readonly message: string;
  readonly transient: boolean;
  readonly urn: string;
}

export interface Diffed {
  readonly changed: boolean;
  /** Property path to the kind of change, as in "UPDATE_REPLACE". */
  readonly detail: Readonly<Record<string, string>>;
}

type Method<Request, Response> = (
  request: Request,
  options: { deadline: number },
  answer: (error: ServiceError | null, response: Response) => void,
) => unknown;

export class PluginProcess {
  readonly logs: Log[] = [];
  /** Everything the process printed, for the search for secrets. */
  printed = "";
  client!: ResourceProviderClient;
  process!: ChildProcessWithoutNullStreams;
  private readonly engine = new Server();

  /** @param environment variables on top of the test's own, which lose SSH_AUTH_SOCK */
  static async start(environment: Record<string, string> = {}): Promise<PluginProcess> {
    const plugin = new PluginProcess();
    const address = await plugin.listen();
    const [program, args] = OFFICIAL === undefined ? [process.execPath, [REPLACEMENT]] : [OFFICIAL, []];
    const inherited = { ...process.env };
    delete inherited["SSH_AUTH_SOCK"];
    plugin.process = spawn(program, [...args, address], { env: { ...inherited, ...environment } });
    for (const stream of [plugin.process.stdout, plugin.process.stderr]) {
      stream.on("data", (data: Buffer) => (plugin.printed += data.toString()));
    }
    const lines = createInterface(plugin.process.stdout);
    const [port] = (await once(lines, "line", { signal: AbortSignal.timeout(CALL_DEADLINE) })) as [string];
    plugin.client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
    });
    const configure = new messages.ConfigureRequest();
    configure.setAcceptsecrets(true);
    configure.setAcceptresources(true);
    configure.setSendsOldInputs(true);
    configure.setSendsOldInputsToDelete(true);
    await plugin.call("configure", configure);
    return plugin;
  }

  async stop(): Promise<void> {
    this.client.close();
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill("SIGKILL");
      await ended;
    }
    this.engine.forceShutdown();
  }

  /** Calls a method with any request. @throws the gRPC error */
  call<Request, Response>(name: keyof ResourceProviderClient, request: Request): Promise<Response> {
    const method = (this.client[name] as unknown as Method<Request, Response>).bind(this.client);
    return new Promise((resolve, reject) => {
      method(request, { deadline: Date.now() + CALL_DEADLINE }, (error, response) =>
        error === null ? resolve(response) : reject(error),
      );
    });
  }

  /** @returns the checked inputs, and the refusals as "path: reason" */
  async check(type: string, inputs: Properties): Promise<{ inputs: Properties; failures: string[] }> {
    const request = new messages.CheckRequest();
    request.setUrn(urn(type));
    request.setNews(struct(inputs));
    const response = await this.call<messages.CheckRequest, messages.CheckResponse>("check", request);
    const failures = response
      .getFailuresList()
      .map((failure) => `${failure.getProperty()}: ${failure.getReason()}`);
    return { inputs: plain(response.getInputs()), failures };
  }

  /** Checks, then creates. @returns id and outputs, and the checked inputs */
  async create(
    type: string,
    given: Properties,
    preview = false,
  ): Promise<{ id: string; outputs: Properties; inputs: Properties }> {
    const { inputs, failures } = await this.check(type, given);
    if (failures.length > 0) throw new Error(failures.join("; "));
    const request = new messages.CreateRequest();
    request.setUrn(urn(type));
    request.setProperties(struct(inputs));
    request.setPreview(preview);
    const response = await this.call<messages.CreateRequest, messages.CreateResponse>("create", request);
    return { id: response.getId(), outputs: plain(response.getProperties()), inputs };
  }

  async diff(type: string, oldInputs: Properties, olds: Properties, news: Properties): Promise<Diffed> {
    const request = new messages.DiffRequest();
    request.setId("id");
    request.setUrn(urn(type));
    request.setOldInputs(struct(oldInputs));
    request.setOlds(struct(olds));
    request.setNews(struct((await this.check(type, news)).inputs));
    const response = await this.call<messages.DiffRequest, messages.DiffResponse>("diff", request);
    const kinds = Object.entries(messages.PropertyDiff.Kind);
    const detail: Record<string, string> = {};
    response.getDetaileddiffMap().forEach((difference, at) => {
      detail[at] = kinds.find(([, kind]) => kind === difference.getKind())?.[0] ?? "?";
    });
    return { changed: response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME, detail };
  }

  /** Checks, then updates. @returns the outputs */
  async update(type: string, olds: Properties, given: Properties, preview = false): Promise<Properties> {
    const request = new messages.UpdateRequest();
    request.setId("id");
    request.setUrn(urn(type));
    request.setOlds(struct(olds));
    request.setNews(struct((await this.check(type, given)).inputs));
    request.setPreview(preview);
    const response = await this.call<messages.UpdateRequest, messages.UpdateResponse>("update", request);
    return plain(response.getProperties());
  }

  async delete(type: string, olds: Properties): Promise<void> {
    const request = new messages.DeleteRequest();
    request.setId("id");
    request.setUrn(urn(type));
    request.setProperties(struct(olds));
    await this.call<messages.DeleteRequest, Empty>("delete", request);
  }

  private listen(): Promise<string> {
    this.engine.addService(EngineService, {
      log: (call: { request: LogRequest }, answer: (error: null, response: Empty) => void) => {
        const { request } = call;
        this.logs.push({
          message: request.getMessage(),
          transient: request.getEphemeral(),
          urn: request.getUrn(),
        });
        answer(null, new Empty());
      },
    });
    return new Promise((resolve, reject) => {
      this.engine.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(`127.0.0.1:${String(port)}`) : reject(error),
      );
    });
  }
}

function urn(type: string): string {
  return `urn:pulumi:test::foresail::${type}::step`;
}

export function struct(properties: Properties): Struct {
  return Struct.fromJavaScript(properties);
}

export function plain(properties: Struct | undefined): Properties {
  return properties?.toJavaScript() ?? {};
}
