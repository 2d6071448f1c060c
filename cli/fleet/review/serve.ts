import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { plural } from "../../../lib/text/plural";
import { UsageError } from "../../terminal/exit-codes";
import { contentPolicy, renderPage } from "../page/page";
import { stacksOf } from "../plan/fleet";
import type { FleetReview } from "../plan/review";
import type { Progress } from "../plan/waves";

/** A page of a run that can be opened while it runs. */
export interface LivePage {
  /** Its address, with a random token that only this terminal shows. */
  readonly url: string;
  show(progress: Progress): void;
  /** Tells the readers that the run has ended, and stops. */
  close(): Promise<void>;
}

/** The most readers at once; the page is for the people who watch one run. */
const MOST_READERS = 20;

/** Returns the port of the option --serve; 0 for any that is free. @throws UsageError */
export function portOf(option: string | true): number {
  if (option === true) return 0;
  const port = /^\d{1,5}$/.test(option) ? Number(option) : NaN;
  if (!(port <= 65_535)) throw new UsageError(`--serve ${option} is not a port; give a number up to 65535`);
  return port;
}

/**
 * Shows a run on 127.0.0.1 while it runs: to those who know the address, and to browsers that ask for this host, so that no
 * web site can read it under a name of its own.
 *
 * @param port 0 for any that is free
 */
export async function servePage(review: FleetReview, from: Progress, port: number): Promise<LivePage> {
  const token = randomBytes(24).toString("hex");
  const readers = new Set<ServerResponse>();
  let progress = from;
  const message = () =>
    `data: ${JSON.stringify({ ...progress, words: progressWords(review, progress) })}\n\n`;

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const { port } = server.address() as AddressInfo;
    const refusal = refusalOf(request, [`127.0.0.1:${port}`, `localhost:${port}`]);
    if (refusal !== undefined) return void response.writeHead(refusal, HEADERS).end();
    if (request.url === `/${token}/`)
      return void response
        .writeHead(200, { ...HEADERS, "Content-Type": "text/html; charset=utf-8" })
        .end(renderPage(review, progress));
    if (request.url !== `/${token}/events`) return void response.writeHead(404, HEADERS).end();
    if (readers.size >= MOST_READERS) return void response.writeHead(503, HEADERS).end();
    response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" }).write(message());
    readers.add(response);
    response.on("close", () => readers.delete(response));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ message }) =>
      reject(new Error(`can't show the run on port ${port}: ${message}; give another one: --serve PORT`)),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/${token}/`,
    show(next) {
      progress = next;
      for (const reader of readers) reader.write(message());
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      const ended = [...readers].map(
        (reader) =>
          new Promise<void>((resolve) => {
            reader.once("close", resolve);
            reader.end("event: end\ndata: \n\n", resolve);
          }),
      );
      // a reader that takes nothing must not keep the run from its end
      await Promise.race([Promise.all(ended), new Promise((resolve) => setTimeout(resolve, 1_000).unref())]);
      server.closeAllConnections();
      await closed;
    },
  };
}

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": `${contentPolicy(true)}; frame-ancestors 'none'`,
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** Returns the status for a request that is not for this page. */
function refusalOf({ method, headers }: IncomingMessage, hosts: readonly string[]): number | undefined {
  if (!hosts.includes(headers.host ?? "")) return 421;
  return method === "GET" ? undefined : 405;
}

/** Returns how far a run is: "2 of 5 stacks done, 1 failed, 1 running". */
export function progressWords({ fleet }: Pick<FleetReview, "fleet">, { stacks }: Progress): string {
  const all = stacksOf(fleet);
  const count = (state: string) => all.filter((name) => stacks[name] === state).length;
  const others = (["failed", "interrupted", "running"] as const).flatMap((state) =>
    count(state) > 0 ? [`${count(state)} ${state}`] : [],
  );
  return [`${count("done")} of ${plural(all.length, "stack")} done`, ...others].join(", ");
}
