/** Starts Pulumi's own dynamic-provider process and calls it by gRPC, as the engine does. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import type { HandlerKey } from "../../providers/handlers";
import { providerText } from "../../lib/pulumi/dynamic-resource";
import type { Properties } from "../../sandbox/command-plugin/wire";
import { makeCompiledClone, removeFolder } from "../engine/compiled-clone";
import { assertKnownSteps } from "../support/steps";
import { plain, struct } from "./command-plugin/plugin-process";

const PROGRAM = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
const CALL_DEADLINE = 20_000;

export interface Refusal {
  readonly property: string;
  readonly reason: string;
}

/** The process in which foresail's handlers run; every call names the handlers by the text that is in state. */
export class ProviderHost {
  /** What the handlers printed. */
  printed = "";
  private ownsFolder = false;

  private constructor(
    /** The project that it was started in. */
    readonly folder: string,
    private readonly child: ChildProcess,
    private readonly client: ResourceProviderClient,
  ) {}

  /** Starts it in a clone of its own, which `stop` removes. */
  static async inClone(): Promise<ProviderHost> {
    const clone = makeCompiledClone();
    try {
      const host = await ProviderHost.start(clone);
      host.ownsFolder = true;
      return host;
    } catch (error) {
      removeFolder(clone);
      throw error;
    }
  }

  /** @param folder the Pulumi project in which the engine would start it */
  static async start(folder: string): Promise<ProviderHost> {
    const environment = { ...process.env, SSH_AUTH_SOCK: undefined };
    const child = spawn(process.execPath, [PROGRAM, "127.0.0.1:1"], {
      cwd: folder,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [port] = (await once(createInterface(child.stdout), "line", {
      signal: AbortSignal.timeout(CALL_DEADLINE),
    })) as [string];
    const client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
    const host = new ProviderHost(folder, child, client);
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data: Buffer) => (host.printed += data.toString()));
    const configure = new messages.ConfigureRequest();
    configure.setArgs(struct({}));
    await host.call("configure", configure);
    return host;
  }

  async stop(): Promise<void> {
    this.client.close();
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, "exit");
      this.child.kill("SIGKILL");
      await ended;
    }
    if (this.ownsFolder) removeFolder(this.folder);
  }

  /** @param olds the recorded inputs; empty for a new resource */
  async check(
    key: HandlerKey,
    olds: object,
    news: object,
  ): Promise<{ inputs: Properties; refusals: Refusal[] }> {
    const request = new messages.CheckRequest();
    request.setOlds(properties(key, olds));
    request.setNews(properties(key, news));
    const response = await this.call<messages.CheckRequest, messages.CheckResponse>("check", request);
    const refusals = response.getFailuresList().map((failure) => {
      // a named input would be printed with its whole value
      assert.equal(failure.getProperty(), "");
      const [property = "", ...reason] = failure.getReason().split(": ");
      return { property, reason: reason.join(": ") };
    });
    const inputs = plain(response.getInputs());
    assertKnownSteps(key.slice(key.indexOf("/") + 1), inputs["steps"]);
    return { inputs, refusals };
  }

  async diff(key: HandlerKey, olds: object, news: object): Promise<{ changes: boolean; replaces: string[] }> {
    const request = new messages.DiffRequest();
    request.setId("id");
    request.setOlds(properties(key, olds));
    request.setNews(properties(key, news));
    const response = await this.call<messages.DiffRequest, messages.DiffResponse>("diff", request);
    const changes = response.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME;
    return { changes, replaces: response.getReplacesList() };
  }

  async create(key: HandlerKey, news: object): Promise<{ id: string; outputs: Properties }> {
    const request = new messages.CreateRequest();
    request.setProperties(properties(key, news));
    const response = await this.call<messages.CreateRequest, messages.CreateResponse>("create", request);
    return { id: response.getId(), outputs: plain(response.getProperties()) };
  }

  /** @returns the outputs */
  async update(key: HandlerKey, olds: object, news: object): Promise<Properties> {
    const request = new messages.UpdateRequest();
    request.setId("id");
    request.setOlds(properties(key, olds));
    request.setNews(properties(key, news));
    const response = await this.call<messages.UpdateRequest, messages.UpdateResponse>("update", request);
    return plain(response.getProperties());
  }

  /** Deletes a resource as a run that has not registered it: with the id of no resource that this process has seen. */
  async delete(key: HandlerKey, olds: object): Promise<void> {
    const request = new messages.DeleteRequest();
    request.setId("id of an earlier run");
    request.setProperties(properties(key, olds));
    await this.call("delete", request);
  }

  /** @returns the properties as a refresh finds them; undefined when the object is gone */
  async read(key: HandlerKey, olds: object): Promise<Properties | undefined> {
    const request = new messages.ReadRequest();
    request.setId("id");
    request.setProperties(properties(key, olds));
    const response = await this.call<messages.ReadRequest, messages.ReadResponse>("read", request);
    return response.getId() === "" ? undefined : plain(response.getProperties());
  }

  /** Interrupts what runs, as the engine does at an interrupt of its run. */
  async cancel(): Promise<void> {
    await this.call("cancel", new Empty());
  }

  private call<Request, Response>(name: keyof ResourceProviderClient, request: Request): Promise<Response> {
    type Method = (
      request: Request,
      options: { deadline: number },
      answer: (error: ServiceError | null, response: Response) => void,
    ) => unknown;
    const method = (this.client[name] as unknown as Method).bind(this.client);
    return new Promise((resolve, reject) => {
      method(request, { deadline: Date.now() + CALL_DEADLINE }, (error, response) =>
        error === null ? resolve(response) : reject(error),
      );
    });
  }
}

/** What the engine keeps of a resource whose work failed half-way; undefined when the error carries nothing. */
export function keptOf(error: unknown): Properties | undefined {
  const details = (error as ServiceError).metadata?.get("grpc-status-details-bin")[0];
  if (details === undefined) return undefined;
  const [detail] = Status.deserializeBinary(details as Buffer).getDetailsList();
  if (!detail) return undefined;
  return plain(messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8()).getProperties());
}

function properties(key: HandlerKey, values: object) {
  const json = JSON.parse(JSON.stringify(values)) as Properties;
  return struct({ ...json, __provider: providerText(key) });
}
