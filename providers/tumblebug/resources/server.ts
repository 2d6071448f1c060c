import { engineSignal } from "../../../lib/process/parent-watch";
import type { Tumblebug } from "../client";
import type { Generation } from "../plan/model";
import { report } from "../../../lib/pulumi/log";

/** Where the server is, as every resource carries it. */
export interface ServerInputs {
  /** With the path: "http://localhost:1323/tumblebug". */
  address: string;
  generation: Generation | "auto";
  /** Secret; $TUMBLEBUG_USERNAME and $TUMBLEBUG_PASSWORD when absent. */
  credentials?: { username: string; password: string };
  /** PEM, to trust beside those of the system. */
  caCertificates?: string;
}

interface CallOptions {
  /** Deadline of a short call with all its attempts. */
  seconds?: number;
  /** Deadline of a call that makes or ends VMs. */
  longSeconds?: number;
}

/**
 * Works with the server, and stops before its next call when the engine is gone.
 *
 * @param resource as a person knows it, for the lines of progress
 */
export async function withServer<Result>(
  resource: string,
  server: ServerInputs,
  work: (tumblebug: Tumblebug, signal: AbortSignal) => Promise<Result>,
  options: CallOptions = {},
): Promise<Result> {
  const { openTumblebug } = await import("../client/index.js");
  const { address, generation, caCertificates } = server;
  const engine = engineSignal();
  let tumblebug: Tumblebug | undefined;
  try {
    tumblebug = await openTumblebug(
      {
        address,
        ...credentialsOf(server),
        ...(generation === "auto" ? {} : { generation }),
        ...(caCertificates === undefined ? {} : { caCertificates }),
      },
      { ...options, signal: engine.signal, progress: (line) => report(resource, line) },
    );
    return await work(tumblebug, engine.signal);
  } finally {
    engine.stop();
    tumblebug?.close();
  }
}

function credentialsOf({ credentials }: ServerInputs): { user: string; password: string } {
  const user = credentials?.username ?? process.env["TUMBLEBUG_USERNAME"];
  const password = credentials?.password ?? process.env["TUMBLEBUG_PASSWORD"];
  if (user !== undefined && password !== undefined) return { user, password };
  throw new Error(
    "no user name and password for Tumblebug; set TUMBLEBUG_USERNAME and TUMBLEBUG_PASSWORD, or " +
      "pulumi config set --secret --path foresail:tumblebugCredentials.username (and .password)",
  );
}
