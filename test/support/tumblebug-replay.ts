import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Recording } from "./tumblebug-recordings";

/** A server on this machine that answers what a real one was recorded to answer, and nothing else. */
export class TumblebugReplay {
  private readonly http: Server;
  private isFirst = true;
  /** What was asked besides the recording to play, in order. */
  readonly further: string[] = [];

  private constructor(
    private readonly recordings: readonly Recording[],
    private readonly played: Recording,
  ) {
    this.http = createServer((incoming, outgoing) => {
      incoming.resume();
      const method = incoming.method ?? "GET";
      const path = (incoming.url ?? "").replace(/^\/tumblebug/, "");
      const { status, text } = this.answer(method, path);
      outgoing.writeHead(status, { "content-type": "application/json; charset=UTF-8" });
      outgoing.end(text);
    });
  }

  /** @param played the answer to the first such request; later requests get those that were recorded around it */
  static async start(recordings: readonly Recording[], played: Recording): Promise<TumblebugReplay> {
    const replay = new TumblebugReplay(recordings, played);
    await new Promise<void>((resolve) => replay.http.listen(0, "127.0.0.1", resolve));
    return replay;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/tumblebug`;
  }

  /** Whether the client sent the request whose answer is played. */
  get isPlayed(): boolean {
    return !this.isFirst;
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise<void>((resolve) => this.http.close(() => resolve()));
  }

  private answer(method: string, path: string): { status: number; text: string } {
    const { played } = this;
    if (this.isFirst && played.method === method && played.path === path) {
      this.isFirst = false;
      return played;
    }
    this.further.push(`${method} ${path}`);
    const alike = this.recordings.filter((each) => each.method === method && each.path === path);
    const next = alike.find((each) => each.line > played.line) ?? alike.at(-1);
    if (next !== undefined) return next;
    // what was looked for before it was made, or after it was deleted
    if (/\/check\w+\//.test(path)) return { status: 200, text: '{"exists":false}\n' };
    return { status: 404, text: '{"message":"Not Found"}\n' };
  }
}
