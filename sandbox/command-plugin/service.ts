/** The gRPC methods of a Pulumi resource provider, for the resources of the replacement. */
import { parseUrn } from "../../lib/pulumi/state";
import type { handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { checkInputs } from "./check.js";
import { diffInputs, type Difference } from "./diff.js";
import { EngineLog } from "./engine-log.js";
import * as lifecycle from "./lifecycle.js";
import { topOfPath } from "./property-path.js";
import { inputsOf } from "./resource-types.js";
import type { Properties } from "./wire.js";

/** The version of the plugin that this one replaces. */
export const VERSION = "1.2.1";

/** The service that a gRPC server adds under the definition of `ResourceProvider`. */
export function commandService(engineAddress: string | undefined): UntypedServiceImplementation {
  const log = new EngineLog(engineAddress);
  const canceled = new AbortController();
  const work = (urn: string): lifecycle.Work => {
    const type = parseUrn(urn).type;
    inputsOf(type);
    return { type, log: log.of(urn), signal: canceled.signal };
  };

  return {
    handshake: answer((_request: messages.ProviderHandshakeRequest) => {
      const response = new messages.ProviderHandshakeResponse();
      response.setAcceptSecrets(true);
      response.setAcceptResources(true);
      return response;
    }),
    getPluginInfo: answer((_request: Empty) => {
      const info = new PluginInfo();
      info.setVersion(VERSION);
      return info;
    }),
    getSchema: answer((_request: messages.GetSchemaRequest) => {
      const response = new messages.GetSchemaResponse();
      response.setSchema(JSON.stringify({ name: "command", version: VERSION }));
      return response;
    }),
    checkConfig: answer((request: messages.CheckRequest) => {
      const response = new messages.CheckResponse();
      response.setInputs(request.getNews());
      return response;
    }),
    diffConfig: answer((_request: messages.DiffRequest) => differences([])),
    configure: answer((_request: messages.ConfigureRequest) => {
      const response = new messages.ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setAcceptresources(true);
      response.setSupportspreview(true);
      return response;
    }),
    check: answer((request: messages.CheckRequest) => {
      const { inputs, failures } = checkInputs(
        parseUrn(request.getUrn()).type,
        properties(request.getNews()),
      );
      const response = new messages.CheckResponse();
      response.setInputs(struct(inputs));
      for (const { path, reason } of failures) {
        const failure = new messages.CheckFailure();
        failure.setProperty(path);
        failure.setReason(reason);
        response.addFailures(failure);
      }
      return response;
    }),
    diff: answer((request: messages.DiffRequest) => {
      const state = properties(request.getOlds());
      const news = ignoring(request.getIgnorechangesList(), state, properties(request.getNews()));
      return differences(diffInputs(oldInputs(request, state), news));
    }),
    create: answer(async (request: messages.CreateRequest) => {
      const { urn, inputs } = { urn: request.getUrn(), inputs: properties(request.getProperties()) };
      const job = work(urn);
      const response = new messages.CreateResponse();
      response.setId(lifecycle.newId(job.type, parseUrn(urn).name));
      const outputs = request.getPreview()
        ? lifecycle.previewCreate(job.type, inputs)
        : await lifecycle.create(job, inputs);
      response.setProperties(struct(outputs));
      return response;
    }),
    read: answer((request: messages.ReadRequest) => {
      const response = new messages.ReadResponse();
      response.setId(request.getId());
      response.setProperties(request.getProperties());
      response.setInputs(request.getInputs());
      return response;
    }),
    update: answer(async (request: messages.UpdateRequest) => {
      const olds = properties(request.getOlds());
      const news = ignoring(request.getIgnorechangesList(), olds, properties(request.getNews()));
      const job = work(request.getUrn());
      const outputs = request.getPreview()
        ? lifecycle.previewUpdate(job.type, olds, news)
        : await lifecycle.update(job, olds, news);
      const response = new messages.UpdateResponse();
      response.setProperties(struct(outputs));
      return response;
    }),
    delete: answer(async (request: messages.DeleteRequest) => {
      await lifecycle.remove(work(request.getUrn()), properties(request.getProperties()));
      return new Empty();
    }),
    cancel: answer((_request: Empty) => {
      canceled.abort();
      return new Empty();
    }),
  };
}

function answer<Request, Response>(
  handle: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    Promise.resolve()
      .then(() => handle(call.request))
      .then(
        (response) => callback(null, response),
        (error: Error) => callback({ code: status.UNKNOWN, details: error.message }),
      );
  };
}

function properties(given: Struct | undefined): Properties {
  return given?.toJavaScript() ?? {};
}

function struct(given: Properties): Struct {
  return Struct.fromJavaScript(given);
}

/**
 * Returns the inputs of the resource: current engines send them; older ones send only the outputs, which contain them.
 */
function oldInputs(request: messages.DiffRequest, state: Properties): Properties {
  const sent = request.getOldInputs();
  if (sent !== undefined) return properties(sent);
  const known = inputsOf(parseUrn(request.getUrn()).type);
  return Object.fromEntries(Object.entries(state).filter(([name]) => Object.hasOwn(known, name)));
}

function ignoring(names: readonly string[], olds: Properties, news: Properties): Properties {
  const kept = names.flatMap((name) => (olds[name] === undefined ? [] : [[name, olds[name]] as const]));
  return { ...news, ...Object.fromEntries(kept) };
}

function differences(all: readonly Difference[]): messages.DiffResponse {
  const { Kind } = messages.PropertyDiff;
  const kinds = {
    add: [Kind.ADD, Kind.ADD_REPLACE],
    delete: [Kind.DELETE, Kind.DELETE_REPLACE],
    update: [Kind.UPDATE, Kind.UPDATE_REPLACE],
  } as const;
  const response = new messages.DiffResponse();
  const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
  response.setChanges(all.length === 0 ? DIFF_NONE : DIFF_SOME);
  response.setHasdetaileddiff(true);
  for (const { path, change, replace } of all) {
    const detail = new messages.PropertyDiff();
    detail.setKind(kinds[change][replace ? 1 : 0]);
    response.getDetaileddiffMap().set(path, detail);
  }
  const tops = (some: readonly Difference[]): string[] => [
    ...new Set(some.map(({ path }) => topOfPath(path))),
  ];
  response.setDiffsList(tops(all));
  response.setReplacesList(tops(all.filter(({ replace }) => replace)));
  return response;
}
