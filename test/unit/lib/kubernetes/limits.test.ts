import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { KubernetesClient } from "../../../../lib/kubernetes";
import { type Certificate, TestAuthority } from "../../../support/certificates";
import { kubeconfigOf } from "../../../support/kubernetes-server";

const PODS = { apiVersion: "v1", kind: "Pod" };
const MEBIBYTE = 2 ** 20;

describe("what an API server may answer", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), "foresail-limits-"));
  const authority = new TestAuthority(folder);
  let certificate: Certificate;
  let server: Server;
  let client: KubernetesClient;
  /** the requests for pods, without those of the health check */
  let asked: URL[];
  let encodings: (string | undefined)[];
  let accepted: (string | undefined)[];
  let answer: (response: ServerResponse, url: URL) => void;

  before(() => {
    certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
  });
  beforeEach(async () => {
    asked = [];
    encodings = [];
    accepted = [];
    const { key, certificate: cert } = certificate;
    server = createServer({ key, cert }, (request, response) => {
      const url = new URL(request.url ?? "", "https://server");
      if (url.pathname !== "/api/v1/pods") return void response.end("{}");
      asked.push(url);
      encodings.push(request.headers["accept-encoding"]);
      accepted.push(request.headers.accept);
      answer(response, url);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const access = { kubeconfig: kubeconfigOf(authority, [{ port }]) };
    client = await KubernetesClient.connect(access, { seconds: 15, callSeconds: 15 });
  });
  afterEach(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  const page = (from: number, to: number, next?: string) => ({
    metadata: { resourceVersion: "7", continue: next },
    items: Array.from({ length: to - from }, (_, index) => ({ metadata: { name: `p-${from + index}` } })),
  });
  const write = (response: ServerResponse, object: object) => void response.end(JSON.stringify(object));
  const parameters = (name: string) => asked.map(({ searchParams }) => searchParams.get(name));
  const watch = () =>
    client.watchUntil({ ...PODS, what: "a pod", seconds: 5, decide: () => ({ pending: "none" }) });

  it("is read in pages and compressed", async () => {
    answer = (response, url) => {
      const from = Number(url.searchParams.get("continue") ?? 0);
      const object = from < 1000 ? page(from, from + 500, String(from + 500)) : page(from, from + 3);
      response.setHeader("Content-Encoding", "gzip");
      response.end(gzipSync(JSON.stringify(object)));
    };
    assert.equal((await client.listPods()).length, 1003);
    assert.deepEqual(parameters("limit"), ["500", "500", "500"]);
    assert.deepEqual(parameters("continue"), [null, "500", "1000"]);
    assert.deepEqual(encodings, ["gzip", "gzip", "gzip"]);
  });

  it("is metadata alone where nothing else is needed, on every page", async () => {
    answer = (response, url) =>
      write(response, url.searchParams.has("continue") ? page(500, 502) : page(0, 500, "500"));
    assert.equal((await client.listMetadata(PODS)).length, 502);
    const type = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    assert.deepEqual(accepted, [type, type]);
  });

  it("is read again when the version of the first page is gone", async () => {
    answer = (response, url) => {
      if (!url.searchParams.has("continue")) return write(response, page(0, 500, "500"));
      if (asked.length > 2) return write(response, page(500, 700));
      response.statusCode = 410;
      write(response, { reason: "Expired", message: "too old" });
    };
    assert.equal((await client.listPods()).length, 700);
    assert.deepEqual(parameters("continue"), [null, "500", null, "500"]);
  });

  it("has no endless pages", async () => {
    answer = (response) => write(response, page(0, 1, "more"));
    await assert.rejects(
      client.listPods(),
      /GET \/api\/v1\/pods: the list has more than 200 pages of 500 objects/,
    );
  });

  it("has a limit, which also counts what is compressed, and is not asked for again", async () => {
    for (const isCompressed of [false, true]) {
      asked = [];
      const text = Buffer.alloc(65 * MEBIBYTE, " ");
      answer = (response) => {
        if (isCompressed) response.setHeader("Content-Encoding", "gzip");
        response.end(isCompressed ? gzipSync(text) : text);
      };
      await assert.rejects(
        client.listPods(),
        /GET https:\S+\/api\/v1\/pods: the answer is larger than 64 MiB/,
      );
      assert.equal(asked.length, 1);
    }
  });

  it("has no endless line in a watch", async () => {
    answer = (response, url) => {
      if (!url.searchParams.has("watch")) return write(response, page(0, 0));
      const more = () =>
        void (response.destroyed || response.write(Buffer.alloc(MEBIBYTE, "x"), () => more()));
      more();
    };
    await assert.rejects(watch(), /GET https:\S+\/api\/v1\/pods: a line of the answer is larger than 8 MiB/);
  });

  it("is listed again when an event of a watch can't be read", async () => {
    const broken = ["no json", "null", '{"type":"ADDED"}', '{"type":"ADDED","object":7}'];
    answer = (response, url) => {
      if (!url.searchParams.has("watch")) return write(response, page(0, 0));
      const line = broken.shift();
      if (line !== undefined) return void response.end(`${line}\n`);
      response.write(`${JSON.stringify({ type: "ADDED", object: { metadata: { name: "p-1" } } })}\n`);
    };
    const found = await client.watchUntil<string>({
      ...PODS,
      what: "a pod",
      seconds: 5,
      decide: ([pod]) => (pod ? { done: pod.metadata?.name ?? "" } : { pending: "none" }),
    });
    assert.equal(found, "p-1");
    assert.equal(asked.filter(({ searchParams }) => !searchParams.has("watch")).length, 5);
  });
});
