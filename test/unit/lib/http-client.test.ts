import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HttpClient, type HttpRequest, wasNeverSent } from "../../../lib/http-client";

describe("the HTTP client", () => {
  let server: Server;
  let url: string;
  const seen: { method?: string; length?: string; type?: string; body: string }[] = [];
  const client = new HttpClient({});

  before(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { "content-length": length, "content-type": type } = request.headers;
        seen.push({ method: request.method, length, type, body });
        // never ends: the headers alone are not an answer
        if (request.url === "/half") response.writeHead(200).write("{");
        else if (request.url === "/endless") {
          const send = () => {
            while (!response.destroyed && response.write("x".repeat(65_536)));
          };
          response.on("drain", send);
          send();
        } else if (request.url === "/elsewhere") response.writeHead(307, { location: `${url}/text` }).end();
        else if (request.url === "/text") response.writeHead(503).end("try later");
        else response.writeHead(201, { "x-token": "t" }).end(JSON.stringify({ made: true }));
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  const send = (path: string, more: Partial<HttpRequest> = {}) =>
    client.send({ method: "GET", url: url + path, milliseconds: 5_000, ...more });

  it("returns the status, the headers, the text and its JSON", async () => {
    const { status, headers, text, body } = await send("/", { method: "DELETE", body: { grace: 0 } });
    assert.deepEqual([status, headers["x-token"], text, body], [201, "t", '{"made":true}', { made: true }]);
    const sent = { method: "DELETE", length: "11", type: "application/json", body: '{"grace":0}' };
    assert.deepEqual(seen.at(-1), sent);
    assert.equal((await send("/text")).body, undefined);
  });

  it("accepts another content type", async () => {
    await send("/", {
      method: "PATCH",
      body: {},
      headers: { "Content-Type": "application/merge-patch+json" },
    });
    assert.equal(seen.at(-1)?.type, "application/merge-patch+json");
  });

  it("gives up at the deadline, even in the middle of a response", async () => {
    await assert.rejects(send("/half", { milliseconds: 100 }), /no answer within 0\.1 s/);
  });

  it("stops reading a response that is larger than its limit", async () => {
    const small = new HttpClient({}, 1);
    const answer = small.send({ method: "GET", url: `${url}/endless`, milliseconds: 10_000 });
    await assert.rejects(answer, {
      code: "AnswerTooLarge",
      message: `GET ${url}/endless: the answer is larger than 1 MiB`,
    });
  });

  it("does not follow a redirect", async () => {
    const count = seen.length;
    const { status, headers } = await send("/elsewhere", { headers: { Authorization: "Basic c2VjcmV0" } });
    assert.deepEqual([status, headers["location"], seen.length], [307, `${url}/text`, count + 1]);
  });

  it("throws the signal's reason, before and during a request", async () => {
    const reason = new Error("the engine is gone");
    await assert.rejects(send("/", { signal: AbortSignal.abort(reason) }), reason);
    const controller = new AbortController();
    const answer = send("/half", { signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(answer, reason);
  });

  it("recognizes a request that can't have reached the server", async () => {
    const [closed, cut] = await Promise.all(
      [
        client.send({ method: "GET", url: "http://127.0.0.1:1/", milliseconds: 5_000 }),
        send("/half", { milliseconds: 100 }),
      ].map((answer) => answer.then(() => assert.fail("answered"), wasNeverSent)),
    );
    assert.deepEqual([closed, cut], [true, false]);
  });
});
