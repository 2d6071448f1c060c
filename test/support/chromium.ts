import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { createReporter } from "../../sandbox/progress";
import { ensurePackages } from "../../sandbox/toolchain/packages";

/** What a page did since it was opened. */
export interface PageLog {
  /** Addresses that it asked for. */
  readonly requests: string[];
  /** Errors of its script, of the console and of its content policy. */
  readonly errors: string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Deadline of one command, in milliseconds. */
const PATIENCE = 30_000;

/** Debian's Chromium without a window, by the protocol of its developer tools over a pipe: it opens no port. */
export class Chromium {
  readonly log: PageLog = { requests: [], errors: [] };
  private readonly answers = new Map<number, (message: Message) => void>();
  private readonly events = new Map<string, () => void>();
  private session: string | undefined;
  private count = 0;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    let rest = "";
    (child.stdio[4] as Readable).setEncoding("utf8").on("data", (text: string) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop() ?? "";
      for (const message of messages) this.take(JSON.parse(message) as Message);
    });
  }

  /** Starts it with one empty page. */
  static async start(): Promise<Chromium> {
    await ensurePackages(["chromium"], createReporter());
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-chromium-"));
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"];
    const own = [`--user-data-dir=${folder}`, "--no-first-run", "--disable-background-networking"];
    const child = spawn("chromium", [...flags, ...own, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, HOME: folder },
    });
    const browser = new Chromium(child, folder);
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const attached = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    browser.session = String(attached["sessionId"]);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await browser.send(`${domain}.enable`);
    return browser;
  }

  /** Opens a file as a reader with this color scheme and width does, and forgets what the page before did. */
  async open(file: string, scheme: "light" | "dark", width: number): Promise<void> {
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: false };
    await this.send("Emulation.setDeviceMetricsOverride", size);
    for (const list of [this.log.requests, this.log.errors]) list.length = 0;
    const loaded = within(
      "the page is not loaded",
      new Promise<void>((resolve) => this.events.set("Page.loadEventFired", resolve)),
    );
    await this.send("Page.navigate", { url: `file://${file}` });
    await loaded;
  }

  /** Evaluates an expression in the page. @throws Error with what the page threw */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      ...{ expression, returnByValue: true, awaitPromise: true },
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
    // its other processes write for a moment longer
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  private send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = (this.count += 1);
    const answer = new Promise<Record<string, unknown>>((resolve, reject) =>
      this.answers.set(id, ({ result, error }) =>
        error === undefined ? resolve(result ?? {}) : reject(new Error(`${method}: ${error.message}`)),
      ),
    );
    const session = this.session === undefined ? {} : { sessionId: this.session };
    (this.child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return within(`${method} has no answer`, answer);
  }

  private take(message: Message): void {
    const { id, method = "", params = {} } = message;
    if (id !== undefined) {
      this.answers.get(id)?.(message);
      this.answers.delete(id);
      return;
    }
    const say = () => this.log.errors.push(JSON.stringify(params));
    const { request, entry, type } = params as {
      request?: { url: string };
      entry?: { level: string };
      type?: string;
    };
    if (method === "Network.requestWillBeSent" && request !== undefined) this.log.requests.push(request.url);
    if (method === "Runtime.exceptionThrown") say();
    if (method === "Log.entryAdded" && entry?.level !== "verbose") say();
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(type ?? "")) say();
    this.events.get(method)?.();
  }
}

/** @throws Error when it takes longer than the deadline */
async function within<Value>(what: string, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${PATIENCE / 1000} s`)), PATIENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
